package schema_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/schema"
)

// Check compares a mapping with the class that the tag of the mapping determines, even if a different class would
// result in fewer problems. For a missing tag that every class requires, the problem lists all values of the tag.
func TestTaggedUnion(t *testing.T) {
	number := &schema.Expr{Kind: schema.KindInt}
	class := func(tag string, keys ...string) *schema.Expr {
		all := []schema.Key{{
			Name: "type", Required: true,
			Type: &schema.Expr{Kind: schema.KindLiteral, Values: []string{tag}},
		}}
		for _, key := range keys {
			all = append(all, schema.Key{Name: key, Type: number, Required: true})
		}
		return &schema.Expr{Kind: schema.KindClass, Class: schema.NewClass(tag, schema.ExtraIgnore, all)}
	}
	union := &schema.Expr{Kind: schema.KindUnion, Args: []*schema.Expr{
		class("one", "a", "b"), class("two"),
		{Kind: schema.KindNull},
	}}
	missing := func(path, want string) schema.Problem {
		return schema.Problem{Kind: schema.MissingKey, Path: path, Want: want, Fatal: true}
	}
	for text, want := range map[string][]schema.Problem{
		"null":                       nil,
		"{type: two}":                nil,
		"{type: one, a: 1, b: 2}":    nil,
		"{type: one}":                {missing("a", "a whole number"), missing("b", "a whole number")},
		"{a: 1, b: 2}":               {missing("type", "one of one, two")},
		"{}":                         {missing("type", "one of one, two")},
		"{type: three}":              {{Kind: schema.WrongType, Path: "type", Want: "one of one, two", Got: "text", Fatal: true}},
		"{type: '${env.X}', x: '1'}": {{Kind: schema.UnknownKey, Path: "x"}},
	} {
		var document yaml.Node
		if err := yaml.Unmarshal([]byte(text), &document); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, union.Check(document.Content[0])); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}
