package schema_test

import (
	"encoding/json"
	"os"
	"slices"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/schema"
)

// verdicts are the results of the server's own parser, written by hack/release-data/releasedata/verdicts.py.
type verdicts struct {
	Types  []string `json:"types"`
	Values []struct {
		YAML       string   `json:"yaml"`
		AcceptedBy []string `json:"accepted_by"`
	} `json:"values"`
}

// TestAgreesWithTheServersParser checks that the package accepts and rejects the same values as the server's own
// parser.
func TestAgreesWithTheServersParser(t *testing.T) {
	data, err := os.ReadFile("testdata/verdicts.json")
	if err != nil {
		t.Fatal(err)
	}
	var want verdicts
	if err := json.Unmarshal(data, &want); err != nil {
		t.Fatal(err)
	}
	parser := schema.NewParser(nil)
	for _, text := range want.Types {
		kind, err := parser.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, value := range want.Values {
			accepted := len(kind.Check(parseYAML(t, value.YAML))) == 0
			if expected := slices.Contains(value.AcceptedBy, text); accepted != expected {
				t.Errorf("%s as %s: accepted %v, but the server's parser accepted %v", value.YAML, text, accepted, expected)
			}
		}
	}
}

// parseYAML parses a YAML string and returns the root node, without the document node around it.
func parseYAML(t testing.TB, text string) *yaml.Node {
	t.Helper()
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatalf("parse %q: %v", text, err)
	}
	if len(doc.Content) == 0 {
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null"}
	}
	return doc.Content[0]
}
