package envref_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/envref"
)

// patterns are the grammars as regular expressions. The pattern of Server is the pattern in the server's source.
var patterns = map[envref.Grammar]*regexp.Regexp{
	envref.Server:    regexp.MustCompile(`\$\{env\.([A-Z0-9_]+)(?:(:[=+])([^}]*))?\}`),
	envref.Lookalike: regexp.MustCompile(`\$\{env\.([^:}]*)(?:(:[=+])([^}]*))?\}`),
}

// texts are references and similar strings.
var texts = []string{
	"", "text", "${env.A}", "a${env.A}b${env.B_2}c", "${env.A:=}", "${env.A:=x:+y}", "${env.A:+x y}", "${env.A:+${env.B}}",
	"${env.a}", "${env.}", "${env.:=x}", "${env.A-B}", "${env.A:-x}", "${env.A:x}", "${env.A", "${env.A:=x",
	"${env.a ${env.B:=c}",
	"${env.A:x ${env.B}", "${env.${env.A}}", "$${env.A}", "${ENV.A}", "${env.A:=a\nb}", "${env.É:=é}", ":+id}",
	"${env.A b}",
	"$env.A", "${env.A:=${env.B", "${env.A:=${env.B}", "${env.A:=x ${env.b}", "x${env.A_1:=d}y",
}

func TestGrammars(t *testing.T) {
	for _, text := range texts {
		compare(t, text)
	}
}

func FuzzGrammars(f *testing.F) {
	for _, text := range texts {
		f.Add(text)
	}
	f.Fuzz(compare)
}

// compare compares each grammar with its pattern.
func compare(t *testing.T, text string) {
	for grammar, pattern := range patterns {
		var want []envref.Reference
		for _, match := range pattern.FindAllStringSubmatch(text, -1) {
			want = append(want, envref.Reference{Name: match[1], Operator: match[2], Text: match[3]})
		}
		if diff := cmp.Diff(want, slices.Collect(grammar.All(text))); diff != "" {
			t.Errorf("grammar %d, %q (-want +got):\n%s", grammar, text, diff)
		}
		if same := grammar.Replace(text, envref.Reference.String, nil); same != text {
			t.Errorf("grammar %d, %q is written as %q", grammar, text, same)
		}
	}
	if got, want := envref.In(text), patterns[envref.Server].MatchString(text); got != want {
		t.Errorf("In(%q) = %t", text, got)
	}
}

func TestReplaced(t *testing.T) {
	for name, want := range map[string]bool{"": false, "A": true, "_9": true, "a": false, "A-B": false, "É": false} {
		if got := (envref.Reference{Name: name}).Replaced(); got != want {
			t.Errorf("%q: %t", name, got)
		}
	}
}

func TestWhole(t *testing.T) {
	for _, tt := range []struct {
		text string
		want bool
	}{{"${env.A:+x}", true}, {"a${env.A}", false}, {"${env.A}b", false}, {"${env.A}${env.B}", false}, {"a", false}} {
		if _, got := envref.Server.Whole(tt.text); got != tt.want {
			t.Errorf("%q: %t", tt.text, got)
		}
	}
}

func TestReplace(t *testing.T) {
	name := func(r envref.Reference) string { return r.Name }
	if got := envref.Server.Replace("a${env.B}c${env.D:=e}", name, strings.ToUpper); got != "ABCD" {
		t.Error(got)
	}
}

func TestStatic(t *testing.T) {
	for _, tt := range []struct{ text, want, condition string }{
		{"vllm", "vllm", ""},
		{"${env.VLLM_URL:+vllm}", "vllm", "VLLM_URL"},
		{"${env.A:+a}-${env.B:+b}", "a-b", "A"},
		{"${env.A:=a}", "a", ""},
		{"${env.A:=a:+b}", "a:+b", ""},
		{"${env.A}", "${env.A}", ""},
		{"${env.A:a", "${env.A:a", ""},
	} {
		if got, condition := envref.Static(tt.text); got != tt.want || condition != tt.condition {
			t.Errorf("%q: %q, %q", tt.text, got, condition)
		}
	}
}

// A string in which many references begin but none is complete is processed in linear time. Otherwise, this test would
// take hours.
func TestHostileTexts(t *testing.T) {
	for _, part := range []string{"${env.", "${env.A", "${env.A:=", "${env.A:"} {
		for _, end := range []string{"", "}", ":x}"} {
			text := strings.Repeat(part, 200_000) + end
			for grammar := range patterns {
				found := 0
				for range grammar.All(text) {
					found++
				}
				if found > 1 {
					t.Errorf("%s…%s: %d references, but only the last one can be complete", part, end, found)
				}
			}
		}
	}
}
