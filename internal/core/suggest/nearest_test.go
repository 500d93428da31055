package suggest_test

import (
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/suggest"
)

func TestNearest(t *testing.T) {
	keys := []string{"allowed_models", "refresh_models", "api_token", "network", "base_url", "max_tokens", "tls_verify"}
	tests := []struct{ name, want string }{
		{"base_ulr", "base_url"}, // two letters swapped
		{"bas_url", "base_url"},  // one missing
		{"baseUrl", "base_url"},  // a different notation
		{"base-url", "base_url"},
		{"BASE_URL", "base_url"},
		{"url", "base_url"}, // a word in common
		{"api_key", "api_token"},
		{"max_token", "max_tokens"},
		{"netwrok", "network"},
		{"models", "allowed_models"}, // as similar as refresh_models, which comes later
		{"region", ""},
		{"", ""},
		{"x", ""},
	}
	for _, tt := range tests {
		if got := suggest.Nearest(tt.name, keys); got != tt.want {
			t.Errorf("Nearest(%q) = %q, want %q", tt.name, got, tt.want)
		}
	}
	long := strings.Repeat("a", 1<<20)
	if got := suggest.Nearest(long, []string{long}); got != "" {
		t.Errorf("Nearest of a name of a megabyte = a name of %d bytes", len(got))
	}
	if got := suggest.Nearest("a", nil); got != "" {
		t.Errorf("Nearest without candidates = %q", got)
	}
}

func FuzzNearest(f *testing.F) {
	f.Add("base_ulr", "base_url")
	f.Add("é", "e")
	f.Fuzz(func(t *testing.T, name, candidate string) {
		got := suggest.Nearest(name, []string{candidate})
		if got != "" && got != candidate {
			t.Errorf("Nearest(%q) = %q, which is not a candidate", name, got)
		}
		if candidate != "" && len(candidate) <= 100 && suggest.Nearest(candidate, []string{candidate}) != candidate {
			t.Errorf("%q is not nearest to itself", candidate)
		}
	})
}
