package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/hack/internal/shapes"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// maxSize is the maximum size of a schema in bytes. An editor reads the schema for each file.
const maxSize = 150_000

// The schemas are small enough for an editor to read them quickly.
func TestSizes(t *testing.T) {
	files, err := generate(testutil.Root())
	if err != nil || len(files) == 0 {
		t.Fatalf("%d schemas: %v", len(files), err)
	}
	for name, data := range files {
		if len(data) > maxSize {
			t.Errorf("%s has %d bytes, more than %d", name, len(data), maxSize)
		}
	}
}

func TestRules(t *testing.T) {
	tests := map[string]struct{ rule, message, want string }{
		"pattern": {
			`self.matches('^[[]a[]]$')`, `'"' + self + '" is not valid: write a'`,
			`{"pattern":"^\\[a\\]$","patternErrorMessage":"The value is not valid: write a."}`,
		},
		"pattern and negated pattern": {`self.matches('a') && !self.matches('b')`, "", `{"not":{"pattern":"b"},"pattern":"a"}`},
		"star or pattern":             {`self == '*' || self.matches('^a$')`, "", `{"pattern":"^\\*$|^a$"}`},
		"required":                    {`has(self.a)`, "", `{"required":["a"]}`},
		"one of two":                  {`has(self.a) || has(self.b)`, "", `{"anyOf":[{"required":["a"]},{"required":["b"]}]}`},
		"exclusive": {
			`!has(self.a) || !has(self.b)`, "", `{"allOf":[{"if":{"required":["a"]},"then":{"properties":{"b":false}}}]}`,
		},
		"only with a type": {
			`!has(self.a) || (has(self.type) && self.type == 't')`, "",
			`{"allOf":[{"else":{"properties":{"a":false}},"if":{"properties":{"type":{"const":"t"}},"required":["type"]}}]}`,
		},
		"a rule that a schema cannot express": {`self.a > self.b`, "", `{}`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			to := object{}
			addRules(to, object{"x-kubernetes-validations": []any{object{"rule": tt.rule, "messageExpression": tt.message}}})
			if diff := cmp.Diff(tt.want, compact(to)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestShare(t *testing.T) {
	part := func(description string) object {
		return object{"type": "string", "pattern": strings.Repeat("a", shared), "description": description}
	}
	schema := object{"properties": object{"a": part("A"), "b": object{"items": part("B")}, "c": object{"type": "string"}}}
	share(schema, object{})
	bare := part("")
	delete(bare, "description")
	want := object{
		"properties": object{
			"a": object{"$ref": "#/definitions/a", "description": "A"},
			"b": object{"items": object{"$ref": "#/definitions/a", "description": "B"}},
			"c": object{"type": "string"},
		},
		"definitions": object{"a": bare},
	}
	if diff := cmp.Diff(want, schema); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A field without a type must have a shape.
func TestUnknownShape(t *testing.T) {
	c := &converter{fields: map[string][]shapes.Field{}, definitions: object{}}
	c.schema(object{"x-kubernetes-preserve-unknown-fields": true}, []string{"spec", "new"})
	if c.unknown != "spec.new" {
		t.Errorf("unknown is %q", c.unknown)
	}
}
