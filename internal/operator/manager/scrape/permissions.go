package scrape

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/cache"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
)

const (
	// allowedFor and deniedFor are the times for which an authorization is cached.
	allowedFor = 5 * time.Minute
	deniedFor  = 30 * time.Second
)

// permissions authorizes clients, like the authorizer of k8s.io/apiserver, which links CEL, gRPC and OpenTelemetry.
type permissions struct {
	reviews authorizationclient.SubjectAccessReviewInterface
	answers *cache.LRUExpireCache
}

func newPermissions(reviews authorizationclient.SubjectAccessReviewInterface) *permissions {
	return &permissions{reviews: reviews, answers: cache.NewLRUExpireCache(maxAnswers)}
}

// allow reports whether the API server allows a request of the client with a token.
func (p *permissions) allow(r *http.Request, token string, client *authenticationv1.UserInfo) (bool, error) {
	verb := strings.ToLower(r.Method)
	id := hash(sha256.Sum256(fmt.Appendf(nil, "%q %q %q", token, verb, r.URL.Path)))
	if answer, ok := p.answers.Get(id); ok {
		return answer == true, nil
	}
	extra := make(map[string]authorizationv1.ExtraValue, len(client.Extra))
	for key, values := range client.Extra {
		extra[key] = authorizationv1.ExtraValue(values)
	}
	ctx, cancel := context.WithTimeout(r.Context(), reviewTimeout)
	defer cancel()
	asked := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: client.Username, UID: client.UID, Groups: client.Groups, Extra: extra,
		NonResourceAttributes: &authorizationv1.NonResourceAttributes{Verb: verb, Path: r.URL.Path},
	}}
	review, err := p.reviews.Create(ctx, asked, metav1.CreateOptions{})
	if err != nil {
		return false, fmt.Errorf("authorize user %q: %w", client.Username, err)
	}
	allowed, until := review.Status.Allowed && !review.Status.Denied, deniedFor
	if allowed {
		until = allowedFor
	}
	p.answers.Add(id, allowed, until)
	return allowed, nil
}
