package manager

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// The next token in the file replaces a rejected token within two calls.
func TestRenewToken(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer second" {
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	defer server.Close()
	file := filepath.Join(t.TempDir(), "token")
	config := &rest.Config{Host: server.URL, BearerToken: "first", BearerTokenFile: file}
	renewToken(config)
	client, err := rest.HTTPClientFor(config)
	testutil.Must(t, err)
	for _, tc := range []struct {
		token string
		want  int
	}{
		{"first", http.StatusUnauthorized}, // the file is not read again directly after a read
		{"first", http.StatusUnauthorized},
		{"second", http.StatusOK},
	} {
		testutil.Must(t, os.WriteFile(file, []byte(tc.token), 0o600))
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, http.NoBody)
		testutil.Must(t, err)
		response, err := client.Do(request)
		testutil.Must(t, err)
		_ = response.Body.Close()
		if response.StatusCode != tc.want {
			t.Errorf("with token %q in the file the answer is %d, want %d", tc.token, response.StatusCode, tc.want)
		}
	}
}
