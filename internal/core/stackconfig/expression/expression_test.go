package expression_test

import (
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/expression"
)

func TestCompile(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		want bool
	}{
		"usual":                      {`^model::(vllm|tgi)/[a-z]+\d{4}$`, true},
		"a class":                    {`\pL+`, true},
		"long":                       {strings.Repeat("a", 257), false},
		"not supported":              {"(?!a)", false},
		"not valid":                  {"(", false},
		"a repetition":               {"a{1000}", false},
		"repetitions of repetitions": {"(a{10}){100}", false},
		"many classes":               {strings.Repeat(`\pL`, 80), false},
	} {
		compiled, got := expression.Compile(tc.text)
		if got != tc.want || got != (compiled != nil) {
			t.Errorf("%s: %t, want %t", name, got, tc.want)
		}
	}
}
