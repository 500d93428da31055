package advice_test

import (
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/advice"
)

func TestParts(t *testing.T) {
	for message, want := range map[string][2]string{
		`no remedy`:                           {"", "no remedy"},
		`unknown API "a"; did you mean "b"?`:  {`did you mean "b"?`, `unknown API "a"`},
		`required: set the value; A needs it`: {"", `required: set the value; A needs it`},
		`"a; set b" is wrong; known: c, d; remove it; set c; D reads it`: {
			"set c", `"a; set b" is wrong; known: c, d; remove it; D reads it`,
		},
		`wrong (a; set b); set c, and remove it; also set d`: {"set c, and remove it; also set d", "wrong (a; set b)"},
		`unknown; known: a, b; use one of them, or set c`:    {"", "unknown; known: a, b; use one of them, or set c"},
	} {
		if remedy, rest := advice.Parts(message); remedy != want[0] || rest != want[1] {
			t.Errorf("%s: remedy %q, rest %q", message, remedy, rest)
		}
	}
}

func TestCut(t *testing.T) {
	const names = "a1, vllm, c1, d1, e1, f1, g1, ollama"
	for message, want := range map[string]string{
		"known: " + strings.TrimSuffix(names, ", ollama"): "known: a1, vllm, c1, d1, e1, f1, g1",
		"known: " + names + "; use one":                   "known: a1, vllm, c1, d1, e1 and 3 more; use one",
		`"olama" is unknown; known: ` + names:             `"olama" is unknown; known: ollama, a1, vllm, c1, d1 and 3 more`,
	} {
		if got := advice.Cut(message); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
