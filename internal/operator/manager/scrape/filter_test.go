package scrape

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/go-logr/logr"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	authenticationclient "k8s.io/client-go/kubernetes/typed/authentication/v1"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
)

// reviews is an API server that authenticates the tokens of five clients.
type reviews struct {
	authenticationclient.TokenReviewInterface

	asked int
}

func (r *reviews) Create(
	_ context.Context, review *authenticationv1.TokenReview, _ metav1.CreateOptions,
) (*authenticationv1.TokenReview, error) {
	r.asked++
	switch review.Spec.Token {
	case "scraper", "renewed", "tenant", "mute", "denied":
		review.Status.Authenticated = true
		review.Status.User.Username = review.Spec.Token
	case "broken":
		return nil, errors.New("the API server does not answer")
	default:
		review.Status.Error = "[invalid bearer token, token lookup failed]"
	}
	return review, nil
}

// accessReviews is an API server that lets all clients read the metrics, except for "tenant", "denied" and "mute".
type accessReviews struct {
	authorizationclient.SubjectAccessReviewInterface

	asked int
}

func (r *accessReviews) Create(
	_ context.Context, review *authorizationv1.SubjectAccessReview, _ metav1.CreateOptions,
) (*authorizationv1.SubjectAccessReview, error) {
	r.asked++
	want := authorizationv1.NonResourceAttributes{Verb: "get", Path: "/metrics"}
	switch review.Spec.User {
	case "mute":
		return nil, errors.New("the API server does not answer")
	case "denied":
		review.Status.Denied = true
	}
	review.Status.Allowed = review.Spec.User != "tenant" && *review.Spec.NonResourceAttributes == want
	return review, nil
}

// served is a filter with its API server.
type served struct {
	handler http.Handler
	reviews *reviews
	access  *accessReviews
}

func serve(t *testing.T) served {
	t.Helper()
	asked := &reviews{}
	allowed := &accessReviews{}
	handler, err := newFilter(newTokens(asked), newPermissions(allowed))(logr.Discard(), http.HandlerFunc(
		func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }))
	if err != nil {
		t.Fatal(err)
	}
	return served{handler, asked, allowed}
}

// code returns the status code for a client.
func (s served) code(address, header string) int {
	request := httptest.NewRequest(http.MethodGet, "/metrics", http.NoBody)
	request.RemoteAddr = address
	if header != "" {
		request.Header.Set("Authorization", header)
	}
	recorder := httptest.NewRecorder()
	s.handler.ServeHTTP(recorder, request)
	return recorder.Code
}

func TestFilter(t *testing.T) {
	for header, want := range map[string]int{
		"": 401, "Basic x": 401, "Bearer": 401, "Bearer ": 401, "Bearer wrong": 401, "Bearer tenant": 403,
		"Bearer denied": 403, "Bearer mute": 500,
		"Bearer broken": 500, "Bearer scraper": 200, "bearer scraper": 200,
	} {
		t.Run(header, func(t *testing.T) {
			if got := serve(t).code("10.0.0.1:1", header); got != want {
				t.Errorf("%d, want %d", got, want)
			}
		})
	}
}

// Wrong tokens cause a bounded number of reviews, and do not delay the reviews of clients that can read the metrics.
func TestManyWrongTokens(t *testing.T) {
	s := serve(t)
	if got := s.code("10.0.0.1:1", "Bearer scraper"); got != http.StatusOK {
		t.Fatal(got)
	}
	before := s.reviews.asked
	for i := range 10_000 {
		address := fmt.Sprintf("10.0.%d.%d:1", 1+i/250%40, i%250)
		if got := s.code(address, fmt.Sprintf("Bearer wrong-%d", i)); got != 401 && got != 429 {
			t.Fatal(got)
		}
	}
	if asked := s.reviews.asked - before; asked > 4*totalBurst {
		t.Errorf("%d reviews of wrong tokens", asked)
	}
	for _, token := range []string{"scraper", "renewed"} {
		if got := s.code("10.0.0.1:2", "Bearer "+token); got != http.StatusOK {
			t.Errorf("the token %q: %d", token, got)
		}
	}
}

// The same wrong token is reviewed once.
func TestWrongTokenIsKept(t *testing.T) {
	s := serve(t)
	for range 100 {
		s.code("10.0.0.9:1", "Bearer wrong")
	}
	if s.reviews.asked != 1 {
		t.Errorf("%d reviews", s.reviews.asked)
	}
}

// The API server is asked about the permission of a client once.
func TestPermissionIsKept(t *testing.T) {
	s := serve(t)
	for range 10 {
		for token, want := range map[string]int{"scraper": http.StatusOK, "tenant": http.StatusForbidden} {
			if got := s.code("10.0.0.1:1", "Bearer "+token); got != want {
				t.Errorf("the token %q: %d, want %d", token, got, want)
			}
		}
	}
	if s.access.asked != 2 {
		t.Errorf("%d reviews", s.access.asked)
	}
}
