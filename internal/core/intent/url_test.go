package intent_test

import (
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
)

// An error about a URL contains neither its user information nor its query, which can contain a token.
func TestURLErrorsShowNoCredential(t *testing.T) {
	for _, text := range []string{
		"u:cAnArY@h:80", "http://u:cAnArY@h", "http://u:cAnArY@h:bad", "http://u:cAn@ArY cAnArY@h", "ftp://u:cAnArY@h",
		"http://h/v1?sig=cAnArY x", "ftp://h/v1?sig=cAnArY", "http://?cAnArY", "http:///#cAnArY", "http://h/v1#cAnArY ",
	} {
		if err := intent.CheckURL(text); err == nil || strings.Contains(err.Error(), "cAnArY") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
