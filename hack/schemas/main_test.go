package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/hack/internal/shapes"
)

// maxSize is the maximum size of a schema in bytes. An editor reads the schema for each file.
const maxSize = 150_000

// The schemas in the repository are up to date, and small enough for an editor to read them quickly.
func TestGenerate(t *testing.T) {
	root := filepath.Join("..", "..")
	files, err := generate(root)
	if err != nil {
		t.Fatal(err)
	}
	old, err := filepath.Glob(filepath.Join(root, "schemas", "*.json"))
	if err != nil || len(old) != len(files) {
		t.Errorf("%d schemas, want %d: run make generate (%v)", len(old), len(files), err)
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(root, "schemas", name))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not up to date: run make generate (%v)", name, err)
		}
		if len(want) > maxSize {
			t.Errorf("%s has %d bytes, more than %d", name, len(want), maxSize)
		}
		if !json.Valid(want) {
			t.Errorf("%s is not JSON", name)
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
