//go:build server

package boot

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

// clientToken is the token with which the test sends requests to its server.
const clientToken = "the-client-token"

// authentication is a stack whose server serves HTTPS and requires a token from clients. A user's service checks the
// token.
const authentication = `
apiVersion: llamastack.io/v1alpha2
kind: LlamaStackDistribution
metadata: {name: secured}
spec:
  distribution: {name: starter}
  networking:
    tls: {enabled: true, secretName: secured-tls}
  secretEnv:
    AUTH_SERVICE: {secretKeyRef: {name: auth, key: url}}
  settings:
    server:
      auth:
        provider_config:
          type: custom
          endpoint: ${env.AUTH_SERVICE}/check
`

// TestAuthentication tests that the server reads settings that contain the value of a Secret, and that the probes do
// not need a token.
func TestAuthentication(t *testing.T) {
	t.Parallel()
	eachRelease(t, func(t *testing.T, rel *release.Release) {
		if rel.Runtime.HealthNeedsToken {
			return // the operator rejects the stack; the tests of package stackconfig check this
		}
		planned := secured(t, rel, (&sample{}).planned(), "http://"+unused)
		once(t, rel, func() {
			checkAuthentication(t, rel, secured(t, rel, (&sample{}).startPlace(t, rel), startAuthService(t)))
		}, planned.input(t, rel))
	})
}

// secured returns the stack for a release. Its server asks the service at the URL.
func secured(t *testing.T, rel *release.Release, on place, service string) sample {
	t.Helper()
	s := sample{secrets: secrets{}}
	if err := s.add([]byte(authentication)); err != nil {
		t.Fatal(err)
	}
	s.stack.Namespace = "default"
	s.fit(t, rel, on)
	s.secrets["auth"] = map[string]string{"url": service}
	return s
}

func checkAuthentication(t *testing.T, rel *release.Release, s sample) {
	t.Helper()
	server := bootSample(t, rel, s, t.TempDir()) // waits until the health check succeeds without a token
	for path, want := range map[string]int{
		"/v1/health": http.StatusOK, "/v1/version": http.StatusOK,
		"/v1/providers": http.StatusUnauthorized,
	} {
		if got := server.status(t, path, ""); got != want {
			t.Errorf("%s without a token: status %d, want %d", path, got, want)
		}
	}
	for token, want := range map[string]int{"another": http.StatusUnauthorized, clientToken: http.StatusOK} {
		if got := server.status(t, "/v1/providers", token); got != want {
			t.Errorf("/v1/providers with the token %q: status %d, want %d", token, got, want)
		}
	}
}

// startAuthService starts a service that accepts one token.
func startAuthService(t *testing.T) string {
	t.Helper()
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			Token string `json:"api_key"`
		}
		if json.NewDecoder(r.Body).Decode(&asked) != nil || asked.Token != clientToken || r.URL.Path != "/check" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"principal": "tester", "attributes": {"roles": ["admin"]}}`)) // if this service has stopped, the server's requests fail
	}))
	t.Cleanup(service.Close)
	return service.URL
}

// status returns the status code of the server's response to a request with or without a token.
func (s *llamaStack) status(t *testing.T, path, token string) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := s.client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	return response.StatusCode
}
