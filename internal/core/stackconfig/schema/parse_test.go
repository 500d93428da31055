package schema_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/schema"
)

// outline returns the structure of an expression, which String does not show.
func outline(e *schema.Expr) string {
	names := map[schema.Kind]string{
		schema.KindAny: "any", schema.KindNull: "null", schema.KindBool: "bool", schema.KindInt: "int",
		schema.KindFloat: "float", schema.KindStr: "str", schema.KindURL: "url", schema.KindSecret: "secret",
		schema.KindPath: "path", schema.KindLiteral: "literal", schema.KindList: "list", schema.KindDict: "dict",
		schema.KindUnion: "union", schema.KindClass: "class",
	}
	var inner []string
	for _, arg := range e.Args {
		inner = append(inner, outline(arg))
	}
	inner = append(inner, e.Values...)
	if e.Class != nil {
		inner = append(inner, e.Class.Name)
	}
	if len(inner) == 0 {
		return names[e.Kind]
	}
	return names[e.Kind] + "(" + strings.Join(inner, " ") + ")"
}

func TestParse(t *testing.T) {
	classes := map[string]*schema.Class{
		"Provider":         schema.NewClass("Provider", schema.ExtraIgnore, nil),
		"milvus.MilvusCfg": schema.NewClass("milvus.MilvusCfg", schema.ExtraIgnore, nil),
	}
	tests := []struct{ text, want string }{
		{"str", "str"},
		{"str | null", "union(str null)"},
		{"HttpUrl | null", "union(url null)"},
		{"SecretStr", "secret"},
		{"Path", "path"},
		{"Any", "any"},
		{"list[str]", "list(str)"},
		{"set[int]", "list(int)"},
		{"tuple[int, str]", "list(int str)"},
		{"list", "list"},
		{"dict", "dict"},
		{"dict[str, list[Provider]]", "dict(str list(class(Provider)))"},
		{"dict[str, list[Provider]] | null", "union(dict(str list(class(Provider))) null)"},
		{"bool | Path", "union(bool path)"},
		{"literal[TLSv1.2, TLSv1.3] | null", "union(literal(TLSv1.2 TLSv1.3) null)"},
		{"enum[eval/question-answer, eval/messages-answer]", "literal(eval/question-answer eval/messages-answer)"},
		{"enum[create, read] | list[enum[create, read]]", "union(literal(create read) list(literal(create read)))"},
		{"milvus.MilvusCfg", "class(milvus.MilvusCfg)"},
		{"NotDescribed", "any"},
		{" str|null ", "union(str null)"},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			e, err := schema.NewParser(classes).Parse(tt.text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, outline(e)); diff != "" {
				t.Errorf("structure (-want +got):\n%s", diff)
			}
			if got := e.String(); got != strings.TrimSpace(tt.text) {
				t.Errorf("String() = %q, want the text itself", got)
			}
		})
	}
}

func TestParseErrors(t *testing.T) {
	tests := []struct{ text, want string }{
		{"", `parse type expression "": expected a type at offset 0`},
		{"str |", `parse type expression "str |": expected a type at offset 5`},
		{"list[str", `parse type expression "list[str": expected ']' at offset 8`},
		{"list[]", `parse type expression "list[]": expected a type at offset 5`},
		{"dict[str]", `parse type expression "dict[str]": expected two types, for the keys and the values of a dict, found 1`},
		{"literal", `parse type expression "literal": expected values in brackets at offset 7`},
		{"literal[a", `parse type expression "literal[a": expected values and a closing bracket at offset 8`},
		{"literal[a | b]", `parse type expression "literal[a | b]": expected values and a closing bracket at offset 8`},
		{"str]", `parse type expression "str]": unexpected text at offset 3`},
		{"str int", `parse type expression "str int": unexpected text at offset 4`},
		{strings.Repeat("list[", 40) + "str" + strings.Repeat("]", 40), "nested more than 32 levels deep"},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			_, err := schema.NewParser(nil).Parse(tt.text)
			if err == nil || !strings.HasSuffix(err.Error(), tt.want) {
				t.Errorf("error %v, want one that ends in %q", err, tt.want)
			}
		})
	}
}
