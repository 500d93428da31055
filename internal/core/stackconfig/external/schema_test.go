package external_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/externalprovider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/external"
)

// problems checks a configuration against a schema, both in YAML, and returns the problems.
func problems(t testing.TB, schema, config string) []string {
	t.Helper()
	var decoded map[string]any
	if err := yaml.Unmarshal([]byte(schema), &decoded); err != nil {
		t.Fatal(err)
	}
	class := external.ClassOf(&externalprovider.Package{ConfigSchema: decoded})
	if class == nil {
		return []string{"no class"}
	}
	var node yaml.Node
	if err := yaml.Unmarshal([]byte(config), &node); err != nil {
		t.Fatal(err)
	}
	var told []string
	found := class.Check(node.Content[0])
	for i := range found {
		told = append(told, found[i].Path+": "+found[i].Message())
	}
	return told
}

func TestSchema(t *testing.T) {
	of := func(property string) string { return "type: object\nproperties: {k: " + property + "}" }
	for name, tc := range map[string]struct {
		schema, config string
		want           []string
	}{
		"text":                                {of(`{type: string}`), "k: 1", []string{"k: must be text, found a whole number; put it in quotes"}},
		"a variable":                          {of(`{type: integer, minimum: 3}`), "k: ${env.A:=1}", nil},
		"whole number":                        {of(`{type: integer}`), "k: 1.5", []string{"k: must be a whole number, found a number"}},
		"number as text":                      {of(`{type: integer}`), "k: '15'", nil},
		"number":                              {of(`{type: number}`), "k: x", []string{"k: must be a number, found text"}},
		"bool":                                {of(`{type: boolean}`), "k: [x]", []string{"k: must be true or false, found a list"}},
		"null":                                {of(`{type: "null"}`), "k: 1", []string{"k: must be null, found a whole number"}},
		"several types":                       {of(`{type: [string, "null"]}`), "k: [a]", []string{"k: must be text, found a list"}},
		"at least":                            {of(`{type: integer, minimum: 2}`), "k: 1", []string{"k: must be at least 2"}},
		"at most":                             {of(`{type: number, maximum: 2.5}`), "k: 3", []string{"k: must be at most 2.5"}},
		"less than":                           {of(`{type: integer, exclusiveMaximum: 2}`), "k: 2", []string{"k: must be less than 2"}},
		"minimum in a union":                  {of(`{anyOf: [{type: "null"}, {type: integer, exclusiveMinimum: 2}]}`), "k: 2", []string{"k: must be more than 2"}},
		"draft 4":                             {of(`{type: integer, minimum: 2, exclusiveMinimum: true}`), "k: 2", nil},
		"length":                              {of(`{type: string, minLength: 2, maxLength: 3}`), "k: a", []string{"k: must be text of at least 2 characters"}},
		"length of a list":                    {of(`{type: array, maxItems: 1}`), "k: [a, b]", []string{"k: must be a list of at most 1 entry"}},
		"pattern":                             {of(`{type: string, pattern: "^a+$"}`), "k: ab", []string{"k: must be text that matches ^a+$"}},
		"pattern that Go does not support":    {of(`{type: string, pattern: "(?!a)"}`), "k: ab", nil},
		"pattern that expands":                {of(`{type: string, pattern: "(a{30}){30}"}`), "k: ab", nil},
		"long pattern":                        {of(`{type: string, pattern: "` + strings.Repeat("a", 257) + `"}`), "k: ab", nil},
		"enum":                                {of(`{enum: [a, 1, true]}`), "k: b", []string{"k: must be one of a, 1, true"}},
		"enum with null":                      {of(`{enum: [a, null]}`), "k: null", nil},
		"enum of null":                        {of(`{enum: [null]}`), "k: a", []string{"k: must be null, found text"}},
		"enum of lists":                       {of(`{enum: [[a]]}`), "k: b", nil},
		"empty enum":                          {of(`{enum: []}`), "k: b", nil},
		"const":                               {of(`{const: a}`), "k: b", []string{"k: must be a, found text"}},
		"list":                                {of(`{type: array, items: {type: integer}}`), "k: [1, x]", []string{"k[1]: must be a whole number, found text"}},
		"tuple":                               {of(`{type: array, prefixItems: [{type: integer}], items: {type: integer}}`), "k: [x]", nil},
		"dict":                                {of(`{type: object, additionalProperties: {type: integer}}`), "k: {a: 1, b: x}", []string{"k.b: must be a whole number, found text"}},
		"any dict":                            {of(`{type: object}`), "k: 1", []string{"k: must be a mapping, found a whole number"}},
		"allOf with one schema":               {of(`{allOf: [{type: integer}]}`), "k: x", []string{"k: must be a whole number, found text"}},
		"allOf with several schemas":          {of(`{allOf: [{type: integer}, {minimum: 1}]}`), "k: x", nil},
		"any type":                            {of(`{title: K}`), "k: x", nil},
		"true":                                {of(`true`), "k: x", nil},
		"union with any type":                 {of(`{anyOf: [{type: integer}, {}]}`), "k: x", nil},
		"empty union":                         {of(`{anyOf: []}`), "k: x", nil},
		"union in a union":                    {of(`{anyOf: [{type: integer}, {oneOf: [{type: "null"}, {type: boolean}]}]}`), "k: [x]", []string{"k: must be a whole number or true or false, found a list"}},
		"union of two lists":                  {of(`{anyOf: [{type: array, items: {type: integer}}, {type: array, items: {type: boolean}}]}`), "k: [x]", nil},
		"unknown key":                         {of(`{}`), "kk: x", []string{`kk: unknown key; the server ignores it; did you mean "k"?`}},
		"unknown key that is rejected":        {of(`{}`) + "\nadditionalProperties: false", "other: x", []string{"other: unknown key; the server rejects it; remove the key"}},
		"unknown key that is accepted":        {of(`{}`) + "\nadditionalProperties: true", "a: x", nil},
		"patterns of keys":                    {of(`{}`) + "\nadditionalProperties: false\npatternProperties: {a: {}}", "a: x", nil},
		"required":                            {of(`{type: integer}`) + "\nrequired: [k, other]", "{}", []string{"k: required key is missing; its value must be a whole number", "other: required key is missing; its value must be any value"}},
		"deprecated":                          {of(`{type: integer, deprecated: true}`), "k: 1", []string{"k: is deprecated: a later server release might not accept this key; remove the key before you upgrade to such a release"}},
		"not an object":                       {"type: string", "{}", []string{"no class"}},
		"an empty schema":                     {"{}", "{}", []string{"no class"}},
		"a reference":                         {"$ref: '#/$defs/C'\n$defs: {C: {type: object, properties: {k: {type: integer}}}}", "k: x", []string{"k: must be a whole number, found text"}},
		"a reference to another document":     {of(`{$ref: "https://example.com/schema"}`), "k: x", nil},
		"a reference to a missing definition": {of(`{$ref: "#/$defs/C"}`), "k: x", nil},
		"a reference to itself":               {of(`{$ref: "#/$defs/C"}`) + "\n$defs: {C: {$ref: '#/$defs/C'}}", "k: x", nil},
		"a reference to a choice":             {of(`{$ref: "#/$defs/C"}`) + "\n$defs: {C: {enum: [a, b]}}", "k: x", []string{"k: must be one of a, b"}},
		"a class that contains itself": {
			"$ref: '#/$defs/C'\n$defs: {C: {type: object, properties: {c: {anyOf: [{$ref: '#/$defs/C'}, {type: 'null'}]}, k: {type: integer}}}}",
			"{c: {c: {k: x, c: null}}}",
			[]string{"c.c.k: must be a whole number, found text"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, problems(t, tc.schema, tc.config)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A check against a schema whose number of members doubles with each level does not take exponential time. Otherwise,
// this test would not end.
func TestSchemasThatGrow(t *testing.T) {
	definitions := map[string]any{}
	name := func(i int) string { return "D" + strings.Repeat("x", i) }
	reference := func(i int) map[string]any { return map[string]any{"$ref": "#/$defs/" + name(i)} }
	for i := range 60 {
		definitions[name(i)] = map[string]any{"anyOf": []any{reference(i + 1), reference(i + 1), map[string]any{"type": "array", "items": reference(i + 1)}}}
		definitions["C"+name(i)] = map[string]any{"type": "object", "properties": map[string]any{"a": map[string]any{
			"anyOf": []any{map[string]any{"$ref": "#/$defs/C" + name(i+1)}, map[string]any{"$ref": "#/$defs/C" + name(i+2)}},
		}}}
	}
	definitions["R"] = map[string]any{"type": "object", "properties": map[string]any{"a": map[string]any{
		"anyOf": []any{map[string]any{"$ref": "#/$defs/R"}, map[string]any{"$ref": "#/$defs/S"}},
	}}}
	definitions["S"] = map[string]any{"type": "object", "properties": map[string]any{"a": map[string]any{
		"anyOf": []any{map[string]any{"$ref": "#/$defs/S"}, map[string]any{"$ref": "#/$defs/R"}},
	}}}
	text, err := json.Marshal(map[string]any{"$defs": definitions, "type": "object", "properties": map[string]any{
		"a": reference(0), "b": map[string]any{"$ref": "#/$defs/CD"}, "c": map[string]any{"$ref": "#/$defs/R"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	deep := strings.Repeat("{a: ", 40) + "1" + strings.Repeat("}", 40)
	problems(t, string(text), "{a: "+deep+", b: "+deep+", c: "+deep+"}")
}

// FuzzSchema checks that no problem contains a value from the configuration, and that the check does not panic for any
// schema.
func FuzzSchema(f *testing.F) {
	f.Add(`{"type":"object","properties":{"k":{"anyOf":[{"type":"string","format":"password"},{"type":"null"}]}}}`, `{"k":["canary-value"]}`)
	f.Add(`{"$ref":"#/$defs/A","$defs":{"A":{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}}}}}`, `{"a":{"a":{"b":1}}}`)
	f.Add(`{"properties":{"k":{"enum":[1,null,true]}},"required":["k",1]}`, `{"k":"canary-value"}`)
	f.Fuzz(func(t *testing.T, schema, config string) {
		metadata := "apiVersion: llamastack.io/v1alpha1\nkind: ProviderPackage\nmetadata: {name: a, version: b, vendor: c}\n" +
			"spec: {packageName: a, providerType: 'remote::a', api: inference, configSchema: " + strings.ReplaceAll(schema, "\n", " ") + "}\n"
		found, err := externalprovider.Parse([]byte(metadata))
		if err != nil {
			return
		}
		class := external.ClassOf(found)
		var node yaml.Node
		if class == nil || yaml.Unmarshal([]byte(config), &node) != nil || len(node.Content) != 1 ||
			node.Content[0].Kind != yaml.MappingNode {
			return
		}
		problems := class.Check(node.Content[0])
		for i := range problems {
			if text := problems[i].Message(); strings.Contains(text, "canary-value") && !strings.Contains(schema, "canary") {
				t.Errorf("shows a value: %s", text)
			}
		}
	})
}

// The step works with an empty input.
func TestNothing(t *testing.T) {
	if got := external.Apply(newDraft(t, &intent.Intent{}), nil); got != nil {
		t.Errorf("got %v", got)
	}
}
