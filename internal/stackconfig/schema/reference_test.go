package schema_test

import (
	"regexp"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/schema"
)

// serversPattern is what the server itself matches with.
var serversPattern = regexp.MustCompile(`\$\{env\.[A-Z0-9_]+(?::[=+][^}]*)?\}`)

// FuzzHasReference: the scan by hand says what the server's pattern says.
func FuzzHasReference(f *testing.F) {
	for _, seed := range []string{
		"${env.A}", "x${env.A_1:=d}y", "${env.A:+}", "${env.a}", "${env.}", "${env.A", "${env.A:=", "${env.A:-d}", "${env.A b}", "${env.${env.A}}",
		"${env.A:=${env.B", "${env.A:=${env.B}", "${ENV.A}", "$${env.A}", "${env.A:=x ${env.b}", "",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got, want := schema.HasReference(s), serversPattern.MatchString(s); got != want {
			t.Errorf("HasReference(%q) = %t, the server's pattern says %t", s, got, want)
		}
	})
}
