package cli_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// A manifest with many mistakes causes a bounded number of messages, and the last one states how many there are more.
func TestManyFindings(t *testing.T) {
	spec := map[string]any{"distribution": map[string]any{"name": "starter"}}
	for i := range 20_000 {
		spec[fmt.Sprintf("f%d", i)] = 1
	}
	manifest, err := json.Marshal(map[string]any{
		"apiVersion": "llamastack.io/v1alpha2", "kind": "LlamaStackDistribution",
		"metadata": map[string]any{"name": "a"}, "spec": spec,
	})
	testutil.Must(t, err)
	for _, verb := range []string{"validate", "render", "convert"} {
		t.Run(verb, func(t *testing.T) {
			got := run(t, string(manifest), verb, "-f", "-")
			if lines := strings.Count(got.err, "\n"); got.code != 1 || lines > 105 || !strings.Contains(got.err, "and 19900 more") {
				t.Errorf("exit code %d, %d lines: %.300s", got.code, lines, got.err)
			}
		})
	}
}

// A spec that is too large is refused before it is decoded.
func TestLargeSpec(t *testing.T) {
	for name, text := range map[string]string{
		"JSON": `{"apiVersion":"llamastack.io/v1alpha2","kind":"LlamaStackDistribution","metadata":{"name":"a"},"spec":{"distribution":` +
			`{"name":"starter"},"settings":{"a":[` + strings.Repeat("0,", 300_000) + `0]}}}`,
		"YAML": "apiVersion: llamastack.io/v1alpha1\nkind: LlamaStackDistribution\nmetadata: {name: a}\nspec:\n  server: {a: [" +
			strings.Repeat("0,", 300_000) + "0]}\n",
	} {
		for _, verb := range []string{"validate", "render", "convert"} {
			t.Run(name+"/"+verb, func(t *testing.T) {
				got := run(t, text, verb, "-f", "-")
				if got.code != 1 || !strings.Contains(got.err, "a: spec: 600") ||
					!strings.Contains(got.err, "exceed the limit of 262144 for a spec") {
					t.Errorf("exit code %d: %.300s", got.code, got.err)
				}
			})
		}
	}
}

// hostile is a manifest with terminal sequences in its names, keys and values.
const hostile = `apiVersion: llamastack.io/v1alpha2
kind: LlamaStackDistribution
metadata: {name: "a\e[2J\e[31mb", namespace: "n\e]0;pwn\a"}
spec:
  distribution: {name: "star\e[31mter"}
  "x\e[2Jy\u009b": 1
  providers: {inference: {"provider": "vl\e[5mlm", endpoint: "http://u:p\e[1m@h"}}
`

// Control characters are visible in all output.
func TestControlCharacters(t *testing.T) {
	for _, args := range [][]string{
		{"validate"},
		{"validate", "-o", "json"},
		{"validate", "-o", "sarif"},
		{"validate", "-o", "github"},
		{"render"},
		{"convert"},
		{"validate", "-l", "a=\x1b[2J"},
		{"render", "-o", "\x1b[2J"},
		{"upgrade-check", "--to", "\x1b[2J"},
		{"validate", "-n", "\x1b[2J"},
		{"validate", "--previous", "\x1b[2J"},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			got := run(t, hostile, append(args, "-f", "-")...)
			for name, text := range map[string]string{"output": got.out, "messages": got.err} {
				for _, r := range text {
					if unicode.IsControl(r) && r != '\n' && r != '\t' {
						t.Fatalf("the %s contain %q: %q", name, r, text)
					}
				}
			}
			if got.out+got.err == "" || !strings.Contains(got.out+got.err, `1b`) {
				t.Errorf("no visible control characters: %q %q", got.out, got.err)
			}
		})
	}
}

// Names and keys with line breaks do not begin a line in the messages. In a log of a CI system, such a line can be a
// command.
func TestLineBreaks(t *testing.T) {
	const manifest = `apiVersion: llamastack.io/v1alpha2
kind: LlamaStackDistribution
metadata: {name: "a\n::add-mask::b", namespace: "n\r##vso[task.setvariable variable=x]y"}
spec:
  distribution: {name: "starter\u2028::error::x"}
  "x\n::error::x\u0085\u202e": 1
  networking: {expose: {annotations: {"x\n::stop-commands::x": a}}}
`
	for _, verb := range []string{"validate", "render", "convert"} {
		t.Run(verb, func(t *testing.T) {
			got := run(t, manifest, verb, "-f", "-")
			got.exits(t, 1)
			isBreak := func(r rune) bool { return strings.ContainsRune("\n\u0085\u2028\u2029", r) }
			for line := range strings.FieldsFuncSeq(got.err, isBreak) {
				if begin, _, _ := strings.Cut(line, ": "); !slices.Contains([]string{
					"error", "warning", "note", "invalid stacks", "nothing was rendered", "nothing was converted",
				}, begin) {
					t.Errorf("line %q", line)
				}
			}
		})
	}
}
