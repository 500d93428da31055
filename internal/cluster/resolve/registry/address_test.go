package registry

import (
	"errors"
	"net/http"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve/registry/address"
)

// asked counts the requests that would leave the operator.
type asked int

func (a *asked) RoundTrip(*http.Request) (*http.Response, error) {
	*a++
	return &http.Response{Body: http.NoBody}, nil
}

// TestWrittenAddress checks that a request to a local address does not leave the operator, even if a proxy makes the
// connection. A registry that is listed in Options.Insecure can have a local address.
func TestWrittenAddress(t *testing.T) {
	for host, allowed := range map[string]bool{
		"quay.io": true, "quay.io:5000": true, "8.8.8.8": true, "10.0.0.1:5000": true, "[2600:1f18::1]:5000": true,
		"registry.example.com.": true, "r2.example.c0m": true, "xn--bcher-kva.example": true, "a.0xyz": true,
		"deadbeef":  true,
		"127.0.0.1": false, "127.0.0.1.": false, "127.0.0.1..": false, "169.254.169.254:80": false, "[::1]:443": false,
		"[fe80::1%25eth0]":   false,
		"[::ffff:127.0.0.1]": false,
		"2130706433":         false, "0x7f000001": false, "0x7f.1": false, "127.1": false, "0177.0.0.1": false,
		"127.0.0.09": false,
		"1.0x":       false,
		// net/http turns these hosts into 169.254.169.254 and 127.0.0.1.
		"169.254.169.２５４": false, "%EF%BC%91%EF%BC%92%EF%BC%97.0.0.%EF%BC%91": false, "169。254。169。254": false,
		"insecure.example.com": true, "127.0.0.2:5000": true,
	} {
		var outside asked
		through := &roundTripper{options: Options{Insecure: []string{"127.0.0.2:5000"}}, secure: &outside, insecure: &outside}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+host+"/v2/", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := through.RoundTrip(request)
		if err == nil {
			_ = response.Body.Close()
		}
		if got := outside == 1; got != allowed || !allowed && !errors.Is(err, address.ErrLocal) {
			t.Errorf("%s: asked %t, %v", host, got, err)
		}
	}
}
