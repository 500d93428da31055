package scrape

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/go-logr/logr"
	authenticationclient "k8s.io/client-go/kubernetes/typed/authentication/v1"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/rest"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// Filter returns a filter that serves only clients that the API server authenticates and authorizes. It responds with
// 401 to a client without a valid token, 403 to a client without permission, 429 to a client that presents too many
// tokens, and 500 if the API server does not answer.
func Filter(config *rest.Config, calls *http.Client) (metricsserver.Filter, error) {
	authentication, err := authenticationclient.NewForConfigAndClient(config, calls)
	if err != nil {
		return nil, fmt.Errorf("create a client for TokenReviews: %w", err)
	}
	authorization, err := authorizationclient.NewForConfigAndClient(config, calls)
	if err != nil {
		return nil, fmt.Errorf("create a client for SubjectAccessReviews: %w", err)
	}
	return newFilter(newTokens(authentication.TokenReviews()), newPermissions(authorization.SubjectAccessReviews())), nil
}

func newFilter(known *tokens, clients *permissions) metricsserver.Filter {
	return func(log logr.Logger, next http.Handler) (http.Handler, error) {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			code, err := check(r, known, clients)
			switch {
			case err != nil:
				log.Error(err, "Cannot check a client of the metrics")
				http.Error(w, http.StatusText(code), code)
			case code != http.StatusOK:
				http.Error(w, http.StatusText(code), code)
			default:
				next.ServeHTTP(w, r)
			}
		}), nil
	}
}

// check returns the status code for a request. An error comes from the API server.
func check(r *http.Request, known *tokens, clients *permissions) (int, error) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if token = strings.TrimSpace(token); token == "" || !strings.EqualFold(scheme, "Bearer") {
		return http.StatusUnauthorized, nil
	}
	client, code, err := known.user(r.Context(), token, r.RemoteAddr)
	if client == nil {
		return code, err
	}
	allowed, err := clients.allow(r, token, client)
	switch {
	case err != nil:
		return http.StatusInternalServerError, err
	case !allowed:
		return http.StatusForbidden, nil
	}
	known.trust(token, r.RemoteAddr)
	return http.StatusOK, nil
}
