package scrape

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net"
	"net/http"
	"time"

	"golang.org/x/time/rate"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/cache"
	authenticationclient "k8s.io/client-go/kubernetes/typed/authentication/v1"
)

const (
	// answerFor is the time for which the API server's answer about a token is valid. maxAnswers bounds their number.
	answerFor  = time.Minute
	maxAnswers = 4096
	// trustFor is the time for which a token or an address is trusted after it was allowed to read the metrics.
	trustFor = 24 * time.Hour
	maxTrust = 256
	// An unknown token is reviewed at these rates per second, and in these bursts: for one address, and for all addresses
	// together.
	addressRate, addressBurst = 1, 5
	totalRate, totalBurst     = 20, 40
	maxAddresses              = 1024
	// reviewTimeout bounds the time for a review.
	reviewTimeout = 10 * time.Second
)

// tokens authenticates clients. It keeps hashes of tokens, and never the tokens.
type tokens struct {
	reviews authenticationclient.TokenReviewInterface
	// answers contains the user of a token, or nil for a wrong token.
	answers *cache.LRUExpireCache
	// trusted contains the tokens that were allowed to read the metrics, and the addresses that presented them. Strangers
	// do not delay their reviews.
	trusted *cache.LRUExpireCache
	// addresses contains the limiter of each address.
	addresses *cache.LRUExpireCache
	total     *rate.Limiter
}

// hash identifies a token.
type hash [sha256.Size]byte

func newTokens(reviews authenticationclient.TokenReviewInterface) *tokens {
	return &tokens{
		reviews: reviews, answers: cache.NewLRUExpireCache(maxAnswers), trusted: cache.NewLRUExpireCache(maxTrust),
		addresses: cache.NewLRUExpireCache(maxAddresses), total: rate.NewLimiter(totalRate, totalBurst),
	}
}

// user returns the user of a token, or nil and a status code.
func (t *tokens) user(ctx context.Context, token, address string) (*authenticationv1.UserInfo, int, error) {
	id := hash(sha256.Sum256([]byte(token)))
	if answer, ok := t.answers.Get(id); ok {
		found, _ := answer.(*authenticationv1.UserInfo)
		return t.known(found)
	}
	if !t.admits(id, hostOf(address)) {
		return nil, http.StatusTooManyRequests, nil
	}
	found, err := t.review(ctx, token)
	if err != nil {
		return nil, http.StatusInternalServerError, err
	}
	t.answers.Add(id, found, answerFor)
	return t.known(found)
}

// known returns the user of a token, which is nil for a wrong token.
func (t *tokens) known(found *authenticationv1.UserInfo) (*authenticationv1.UserInfo, int, error) {
	if found == nil {
		return nil, http.StatusUnauthorized, nil
	}
	return found, http.StatusOK, nil
}

// trust records that a client can read the metrics.
func (t *tokens) trust(token, address string) {
	t.trusted.Add(hash(sha256.Sum256([]byte(token))), true, trustFor)
	t.trusted.Add(hostOf(address), true, trustFor)
}

// admits reports whether the API server is asked about a token.
func (t *tokens) admits(id hash, host string) bool {
	if _, ok := t.trusted.Get(id); ok {
		return true
	}
	limiter, ok := t.addresses.Get(host)
	if !ok {
		limiter = rate.NewLimiter(addressRate, addressBurst)
		t.addresses.Add(host, limiter, trustFor)
	}
	if limited, ok := limiter.(*rate.Limiter); ok && !limited.Allow() {
		return false
	}
	_, trusted := t.trusted.Get(host)
	return trusted || t.total.Allow()
}

// review asks the API server for the user of a token. It returns nil for a wrong token.
func (t *tokens) review(ctx context.Context, token string) (*authenticationv1.UserInfo, error) {
	ctx, cancel := context.WithTimeout(ctx, reviewTimeout)
	defer cancel()
	review, err := t.reviews.Create(ctx, &authenticationv1.TokenReview{
		Spec: authenticationv1.TokenReviewSpec{Token: token},
	}, metav1.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("review the token of a client: %w", err)
	}
	if !review.Status.Authenticated {
		return nil, nil //nolint:nilnil // a wrong token has no user
	}
	return &review.Status.User, nil
}

// hostOf returns an address without its port.
func hostOf(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil {
		return host
	}
	return address
}
