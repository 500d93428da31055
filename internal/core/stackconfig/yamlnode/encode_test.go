package yamlnode_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
)

// The cases show the output for every form that a configuration may have.
func TestEncode(t *testing.T) {
	long := strings.Repeat("k", 1100)
	deepIn := strings.Repeat("{a: ", 40) + "x" + strings.Repeat("}", 40)
	for name, tc := range map[string]struct{ in, want string }{
		"layout":         {"a:\n    - b:   1\n      c: [2,  3]\n    - {d:  e}\n", "a:\n- b: 1\n  c: [2, 3]\n- {d: e}\n"},
		"lists in lists": {"- - a\n  - - b\n- c\n", "- - a\n  - - b\n- c\n"},
		"empty": {
			"a: {}\nb: []\nc: ''\nd:\n- {}\n- []\n", "a: {}\nb: []\nc: ''\nd:\n- {}\n- []\n",
		},
		"spelling":                            {"[0o17, 017, 1_000, 0x1F, 1e3, 12:30:00, 2001-01-01, yes, ~, 'on', \"no\"]", "[0o17, 017, 1_000, 0x1F, 1e3, 12:30:00, 2001-01-01, yes, ~, 'on', \"no\"]\n"},
		"null":                                {"a:\nb: null\n", "a: null\nb: null\n"},
		"references":                          {"a: ${env.X:=~/x}/y\nb: ['${env.X}', plain]\n", "a: ${env.X:=~/x}/y\nb: ['${env.X}', plain]\n"},
		"texts":                               {"a: 'it''s'\nb: \"q\\\"\\\\\\t\\r\\n\\u0085\"\nc: 'a:  b # c'\n", "a: 'it''s'\nb: \"q\\\"\\\\\\t\\r\\n\\u0085\"\nc: 'a:  b # c'\n"},
		"folded plain":                        {"a: one\n  two\n\n  three\n", "a: \"one two\\nthree\"\n"},
		"literal":                             {"a: |\n  x\n   y\n\n  z\nb: |-\n  x\nc: |+\n  x\n\n\nd: 1\n", "a: |\n  x\n   y\n\n  z\nb: |-\n  x\nc: |+\n  x\n\n\nd: 1\n"},
		"literal in a list":                   {"- |\n  x\n  y\n- z\n", "- |\n  x\n  y\n- z\n"},
		"folded":                              {"a: >-\n  x\n  y\n", "a: |-\n  x y\n"},
		"texts that cannot be literal blocks": {"a: |2\n    x\nb: |\n\n  x\nc: |+\n\nd: |-\n  x\n    \n  y\n", "a: \"  x\\n\"\nb: \"\\nx\\n\"\nc: \"\\n\"\nd: \"x\\n  \\ny\"\n"},
		"tags":                                {"a: !!str 1\nb: !!map {c: d}\ne: !!seq\n- !!map\n  f: g\n- !!seq\n  - h\n", "a: !!str 1\nb: !!map {c: d}\ne: !!seq\n- !!map\n  f: g\n- !!seq\n  - h\n"},
		"long keys": {
			"? " + long + "\n: v\nb: {? " + long + " : w}\n",
			"? " + long + "\n: v\nb: {? " + long + " : w}\n",
		},
		"deep":                          {deepIn, deepIn + "\n"},
		"texts that the server rejects": {"a: [=, x]\nb: =\n", "a: ['=', x]\nb: '='\n"},
		"one scalar":                    {"text", "text\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var document yaml.Node
			if err := yaml.Unmarshal([]byte(tc.in), &document); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, encode(document.Content[0])); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// The encoder replaces a style that is not possible, such as a text block in a flow sequence or single quotes around a
// line break.
func TestEncodeMisplacedStyles(t *testing.T) {
	block := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: "a\nb", Style: yaml.LiteralStyle}
	quoted := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: "a\nb", Style: yaml.SingleQuotedStyle}
	inBraces := yamlnode.Seq(block, quoted)
	inBraces.Style = yaml.FlowStyle
	if got, want := encode(inBraces), "[\"a\\nb\", \"a\\nb\"]\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	deep := yamlnode.Map()
	at := deep
	for range 40 {
		inner := yamlnode.Map()
		yamlnode.Set(at, "a", inner)
		at = inner
	}
	yamlnode.Set(at, "a", yamlnode.Bool(true))
	if got := encode(deep); !strings.HasSuffix(got, "\n"+strings.Repeat(" ", 80)+"a: true\n") {
		t.Errorf("got\n%s", got)
	}
}
