package main

import (
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/hack/internal/shapes"
)

func TestComplete(t *testing.T) {
	var page strings.Builder
	for _, name := range shapes.Names() {
		page.WriteString("\n#### " + name + "\n\n\n\n" + name + " has two shapes.\n\n" + typeless +
			"_Appears in:_\n- [A](#a)\n\n\n\n\n")
	}
	page.WriteString("\n#### Z\n")
	got, err := complete(page.String(), map[string][]shapes.Field{
		shapes.Expose: {{Name: "enabled", Kind: shapes.Boolean, Doc: "enabled is {a|b}. Required.", Required: true}},
	})
	if err != nil {
		t.Fatal(err)
	}
	const want = `
#### Expose



Expose has two shapes.

_Appears in:_
- [A](#a)

| Shape | Example | Meaning |
| --- | --- | --- |
| boolean | ` + "`true`" + ` | true exposes the server with the default host name. false does not expose it. |
| object | ` + "`{hostname: llama.example.com}`" + ` | The server is exposed unless enabled is false. \{\} means true. |

Keys of the object:

| Key | Type | Required | Meaning |
| --- | --- | --- | --- |
| ` + "`enabled`" + ` | boolean | yes | enabled is \{a\|b\}. |


#### ModelEntry
`
	if !strings.HasPrefix(got, want) {
		t.Errorf("got\n%s", got)
	}
	if _, err := complete("\n#### Expose\n", nil); err == nil {
		t.Error("a page without its sections is accepted")
	}
}

func TestRelink(t *testing.T) {
	const newer = "### Resource Types\n\n#### Phase\n"
	tests := map[string]struct{ page, want string }{
		"own section":     {"#### Secret\n[Secret](#secret)\n", "#### Secret\n[Secret](#secret)\n"},
		"newer section":   {"_[Phase](#phase)_", "_[Phase](v1alpha2.md#phase)_"},
		"no section":      {"- [Provider](#provider)\n", "- Provider\n"},
		"dots and spaces": {"## llamastack.io/v1alpha1\n[a](#llamastackiov1alpha1)", "## llamastack.io/v1alpha1\n[a](#llamastackiov1alpha1)"},
		"other page":      {"[a](https://example.com#b)", "[a](https://example.com#b)"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := relink(test.page, newer, "v1alpha2.md"); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
