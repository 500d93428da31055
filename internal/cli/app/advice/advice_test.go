package advice_test

import (
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
	const names = "remote::a, remote::vllm, remote::c, remote::d, remote::e, remote::f, remote::g, remote::ollama"
	for message, want := range map[string]string{
		"known: 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8": "known: 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8",
		"known: " + names + "; use one":                 "known: remote::a, remote::vllm, remote::c, remote::d, remote::e and 3 more; use one",
		`"remote::olama" is unknown; known: ` + names:   `"remote::olama" is unknown; known: remote::ollama, remote::vllm, remote::a, remote::c, remote::d and 3 more`,
	} {
		if got := advice.Cut(message); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
