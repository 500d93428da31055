package typecheck_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/typecheck"
)

func TestMissing(t *testing.T) {
	type inner struct {
		Needed string  `json:"needed"`
		May    string  `json:"may,omitempty"`
		Null   *string `json:"null"`
	}
	type outer struct {
		inner `json:",inline"`
		One   *inner          `json:"one,omitempty"`
		Many  []inner         `json:"many,omitempty"`
		Own   json.RawMessage `json:"own"`
	}
	for text, want := range map[string][]string{
		`{}`:                                   {"at.needed", "at.own"},
		`{"needed": "", "own": 1}`:             nil,
		`{"needed": null, "own": {}}`:          {"at.needed"},
		`{"needed": "a", "own": 1, "one": {}}`: {"at.one.needed"},
		`{"needed": "a", "own": 1, "many": [{}, null, {"needed": "a"}]}`: {"at.many[0].needed"},
		`{"needed": "a", "own": 1, "one": [], "many": {}}`:               nil,
		`"text"`: nil,
	} {
		var value any
		if err := json.Unmarshal([]byte(text), &value); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, typecheck.Missing(value, reflect.TypeFor[*outer](), "at")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}
