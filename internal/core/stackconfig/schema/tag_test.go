package schema_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/schema"
)

// Check compares a mapping with the class that the tag of the mapping determines, even if a different class would
// result in fewer problems. For a missing tag that every class requires, the problem lists all values of the tag.
func TestTaggedUnion(t *testing.T) {
	number := &schema.Expr{Kind: schema.KindInt}
	class := func(tag string, keys ...string) *schema.Expr {
		literal := &schema.Expr{Kind: schema.KindLiteral, Values: []string{tag}}
		all := []schema.Key{{Name: "type", Required: true, Type: literal}}
		for _, key := range keys {
			all = append(all, schema.Key{Name: key, Type: number, Required: true})
		}
		return &schema.Expr{Kind: schema.KindClass, Class: schema.NewClass(tag, schema.ExtraIgnore, all)}
	}
	union := &schema.Expr{Kind: schema.KindUnion, Args: []*schema.Expr{
		class("one", "a", "b"), class("two"), {Kind: schema.KindNull},
	}}
	outer := schema.NewClass("Outer", schema.ExtraIgnore, []schema.Key{{Name: "in", Type: union}})
	const one, text = "in.type: required key is missing; its value must be one of one, two", "its value must be a whole number"
	for value, want := range map[string]string{
		"null":                       "",
		"{type: two}":                "",
		"{type: one, a: 1, b: 2}":    "",
		"{type: one}":                "in.a: required key is missing; " + text + "in.b: required key is missing; " + text,
		"{a: 1, b: 2}":               one,
		"{}":                         one,
		"{type: three}":              "in.type: must be one of one, two",
		"{type: '${env.X}', x: '1'}": "warning in.x: unknown key; the server ignores it; remove the key",
	} {
		if diff := cmp.Diff(want, messagesOf(t, outer, "in: "+value)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", value, diff)
		}
	}
}
