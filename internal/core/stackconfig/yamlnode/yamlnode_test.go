package yamlnode_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/schema"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
)

func parse(t testing.TB, text string) *yaml.Node {
	t.Helper()
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(text), &document); err != nil {
		t.Fatal(err)
	}
	return document.Content[0]
}

func encode(node *yaml.Node) string { return string(yamlnode.Encode(node, "")) }

func TestGetAndSet(t *testing.T) {
	m := parse(t, "a: 1\nb:\n  c: two\nd: [x]\nn: null\n")
	if got := yamlnode.At(m, "b", "c").Value; got != "two" {
		t.Errorf("b.c is %q", got)
	}
	for _, keys := range [][]string{{"x"}, {"b", "x", "y"}, {"a", "x"}, {"d", "x"}} {
		if yamlnode.At(m, keys...) != nil {
			t.Errorf("At finds a value at the keys %v", keys)
		}
	}
	if yamlnode.Text(m, "a") != "1" || yamlnode.Text(m, "n") != "" || yamlnode.Text(m, "b") != "" ||
		yamlnode.Text(nil, "a") != "" {
		t.Error("Text returns the wrong text for a scalar, null, a mapping or nil")
	}
	yamlnode.Set(m, "a", yamlnode.Int(2))
	yamlnode.Set(m, "e", yamlnode.String("new"))
	yamlnode.Remove(m, "b")
	yamlnode.Remove(m, "b")
	if got, want := encode(m), "a: 2\nd: [x]\nn: null\ne: new\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// Fields finds and sets the same values as Get and Set.
func TestFields(t *testing.T) {
	m := parse(t, "a: 1\nb: 2\na: 3\n")
	f := yamlnode.FieldsOf(m)
	for _, key := range []string{"a", "b", "c"} {
		if got, want := f.Get(key), yamlnode.Get(m, key); got != want {
			t.Errorf("%s is %v, want %v", key, got, want)
		}
	}
	f.Set("b", yamlnode.Int(4))
	f.Set("c", yamlnode.Int(5))
	f.Set("c", yamlnode.Int(6))
	if got, want := encode(f.Mapping()), "a: 1\nb: 4\na: 3\nc: 6\n"; got != want || f.Get("c").Value != "6" {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	for _, node := range []*yaml.Node{nil, parse(t, "[a, b]"), parse(t, "a")} {
		if yamlnode.FieldsOf(node).Get("a") != nil {
			t.Errorf("Fields finds a value in %v, which is not a mapping", node)
		}
	}
}

func TestLengths(t *testing.T) {
	for text, want := range map[string]int{"{a: 1, b: 2}": 2, "[1, 2, 3]": 3, "text": 0} {
		if got := yamlnode.Len(parse(t, text)); got != want {
			t.Errorf("Len(%s) = %d", text, got)
		}
	}
	if yamlnode.Len(nil) != 0 || yamlnode.Items(nil) != nil || yamlnode.Items(parse(t, "{a: b}")) != nil {
		t.Error("Len or Items finds content in nil, or Items finds items in a mapping")
	}
	if len(yamlnode.Items(parse(t, "[1, 2]"))) != 2 {
		t.Error("Items does not return two items")
	}
	for text, want := range map[string]bool{"null": true, "~": true, "''": false, "a": false, "{}": false} {
		if yamlnode.IsNull(parse(t, text)) != want {
			t.Errorf("IsNull(%s) returns the wrong result", text)
		}
	}
}

func TestEqual(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		want bool
	}{
		{"{a: [1, x]}", "a:\n- 1\n- 'x'\n", true},
		{"a: 1", "a: '1'", false},
		{"a: 1", "b: 1", false},
		{"[1]", "[1, 2]", false},
		{"{a: 1}", "[a, 1]", false},
	} {
		if got := yamlnode.Equal(parse(t, tc.a), parse(t, tc.b)); got != tc.want {
			t.Errorf("Equal(%q, %q) = %t", tc.a, tc.b, got)
		}
	}
	if !yamlnode.Equal(nil, nil) || yamlnode.Equal(nil, yamlnode.Null()) {
		t.Error("Equal is wrong for nil")
	}
}

// A copy shares no collection with its original, not even spare capacity.
func TestClone(t *testing.T) {
	original := parse(t, "a: [1, 2]\nb: {c: d}\ne: []\n")
	before := encode(original)
	copied := yamlnode.Clone(original)
	if got := encode(copied); got != before {
		t.Errorf("the copy is\n%s", got)
	}
	for i := range copied.Content {
		copied.Content[i].Content = append(copied.Content[i].Content, yamlnode.String("more"), yamlnode.Null())
	}
	yamlnode.Get(copied, "a").Content[0] = yamlnode.String("changed")
	yamlnode.Set(copied, "new", yamlnode.Null())
	if got := encode(original); got != before {
		t.Errorf("a change of the copy changed the original to\n%s", got)
	}
	if scalar := yamlnode.Int(1); yamlnode.Clone(nil) != nil || yamlnode.Clone(scalar) != scalar {
		t.Error("Clone copies nil or a scalar")
	}
}

func TestFromJSON(t *testing.T) {
	for text, want := range map[string]string{
		`{"b":1,"a":[true,null,"x",{}]}`: "a:\n- true\n- null\n- x\n- {}\nb: 1\n",
		`{"a":"yes","b":"0o17","c":"12:30:00","d":"2024-01-01","e":"=","f":"1_000","g":"","h":"null","i":"~"}`: "a: 'yes'\nb: '0o17'\nc: '12:30:00'\nd: '2024-01-01'\ne: '='\nf: '1_000'\ng: ''\nh: 'null'\ni: '~'\n",
		`{"a":1e5,"b":1.5e-9,"c":2e300,"d":0.25,"e":123456789012345678901234567890,"f":-1E2}`:                  "a: 100000.0\nb: 1.5e-09\nc: 2.0e+300\nd: 0.25\ne: 123456789012345678901234567890\nf: -100.0\n",
		`{"a":"two\nlines","b":"tab\there","c":"it's","d":"a: b","e":"a #b","f":"- x","g":"\u0085\u2028"}`:     "a: \"two\\nlines\"\nb: \"tab\\there\"\nc: it's\nd: 'a: b'\ne: 'a #b'\nf: '- x'\ng: \"\\u0085\\u2028\"\n",
		`{"yes":1,"1":2,"a b":3}`: "'1': 2\na b: 3\n'yes': 1\n",
		`{"a":1e999}`:             "a: '1e999'\n",
	} {
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.UseNumber()
		var value any
		if err := decoder.Decode(&value); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, encode(yamlnode.FromJSON(value))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
	for want, value := range map[string]any{
		"1.5\n": 1.5, "3\n": 3, "4\n": int32(4), "5\n": int64(5),
		"'[]'\n": []string(nil), "false\n": false,
	} {
		if got := encode(yamlnode.FromJSON(value)); got != want {
			t.Errorf("%v gives %q, want %q", value, got, want)
		}
	}
}

// TestReadAsOther checks which strings a YAML reader could read as anything other than the same string.
func TestReadAsOther(t *testing.T) {
	for text := range strings.FieldsSeq(`yes Yes NO on off y N true FALSE null Null ~ = << 0 17 -1 +1 1_000 0x1F 0b11 0o17 017 1.5 .5 5. 1e5 1.5e+5
		12:30 12:30:00 -1:30.5 .inf -.INF .nan 2024-01-01 2024-1-1 2024-01-01T12:00:00Z 1e999`) {
		if !yamlnode.ReadAsOther(text) {
			t.Errorf("ReadAsOther(%q) = false, want true", text)
		}
	}
	for text := range strings.FieldsSeq(`text vllm http://vllm:8000/v1 1.2.3 v1 10.0.0.1 ${env.X} 1a yess 2024 -text .hidden 12:99 0xZZ kv_default ~/x`) {
		if text != "2024" && yamlnode.ReadAsOther(text) {
			t.Errorf("ReadAsOther(%q) = true, want false", text)
		}
	}
	if !yamlnode.ReadAsOther("") {
		t.Error("empty text is not read as null")
	}
}

// FuzzString checks that any text is read back unchanged, and that no reader reads text without quotes as a different
// type.
func FuzzString(f *testing.F) {
	for _, seed := range []string{
		"yes", "12:30:00", "a: b", "# c", "two\nlines\n", " x ", "\u2028", "'\"", "- -",
		"é\x00", "=", "---", "a, b]", ":00",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.ToValidUTF8(text, "?")
		node := yamlnode.Seq(yamlnode.String(text), &yaml.Node{
			Kind: yaml.SequenceNode, Style: yaml.FlowStyle,
			Content: []*yaml.Node{yamlnode.String(text)},
		})
		out := encode(node)
		back := parse(t, out)
		if back.Content[0].Value != text || back.Content[1].Content[0].Value != text {
			t.Errorf("%q is written as %q", text, out)
		}
		if back.Content[0].ShortTag() != "!!str" {
			t.Errorf("%q is read as %s", text, back.Content[0].ShortTag())
		}
		if yamlnode.String(text).Style == 0 && !schema.IsPlainString(text) {
			t.Errorf("%q is written without quotes", text)
		}
	})
}

// FuzzEncode checks that the output is read back as the input, and that a second encoding changes nothing.
func FuzzEncode(f *testing.F) {
	for _, seed := range []string{
		"a: 1\nb: [x, {c: d}]\n", "- - a\n  - b\n- {}\n", "a: |\n  two\n  lines\n\nb: >-\n  one\n",
		"a: !!str 1\nb: !!binary aGk=\n",
		"? long\n: value\n", "'a b': \"c\\nd\"\n", "a: =\nb: <<x\n", "text", "[]", "a:\nb: ~\n",
		"a: 'it''s'\nb: \"\\u2028\"\n", "- |+\n  a\n\n- b\n",
		"!!map {a: b}", "a: !!seq\n- b\n", "- !!map\n  a: b\n", "a: [\"x\", ?y]", strings.Repeat("k", 1100) + ": v",
		"{" + strings.Repeat("k", 1100) + ": v}",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var document yaml.Node
		if yaml.Unmarshal([]byte(text), &document) != nil || len(document.Content) == 0 || hasAnchors(&document) {
			return
		}
		root := document.Content[0]
		first := encode(root)
		var again yaml.Node
		if err := yaml.Unmarshal([]byte(first), &again); err != nil {
			t.Fatalf("%q is written as %q: %v", text, first, err)
		}
		if !yamlnode.Equal(root, again.Content[0]) {
			t.Errorf("%q is written as %q", text, first)
		}
		if second := encode(again.Content[0]); second != first {
			t.Errorf("%q is written as %q and then as %q", text, first, second)
		}
	})
}

// hasAnchors reports whether a document contains parts that package baseconfig expands or rejects: aliases, merge keys,
// keys that are not scalars, and custom tags.
func hasAnchors(node *yaml.Node) bool {
	if node.Kind == yaml.AliasNode || node.ShortTag() == "!!merge" || (node.Style&yaml.TaggedStyle != 0 && !strings.HasPrefix(node.ShortTag(), "!!")) {
		return true
	}
	for i, child := range node.Content {
		if node.Kind == yaml.MappingNode && i%2 == 0 && child.Kind != yaml.ScalarNode {
			return true
		}
		if hasAnchors(child) {
			return true
		}
	}
	return false
}
