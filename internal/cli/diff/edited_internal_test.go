package diff

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMergeFields(t *testing.T) {
	type fields = map[string]any
	for name, tc := range map[string]struct{ original, modified, current, want fields }{
		"a new field":     {fields{}, fields{"a": 1}, fields{}, fields{"a": 1}},
		"a changed field": {fields{"a": 1}, fields{"a": 2}, fields{"a": 1}, fields{"a": 2}},
		"a field that the manifest no longer sets": {
			fields{"a": 1, "b": 1},
			fields{"b": 1},
			fields{"a": 1, "b": 1},
			fields{"b": 1},
		},
		"a field of another client": {
			fields{"a": 1}, fields{"a": 1}, fields{"a": 1, "b": 1}, fields{"a": 1, "b": 1},
		},
		"a field of another client that the manifest sets": {fields{}, fields{"b": 2}, fields{"b": 1}, fields{"b": 2}},
		"fields of an object": {
			fields{"o": fields{"a": 1, "b": 1}},
			fields{"o": fields{"b": 2}},
			fields{"o": fields{"a": 1, "b": 1, "c": 1}},
			fields{"o": fields{"b": 2, "c": 1}},
		},
		"a list is replaced": {
			fields{"l": []any{1}},
			fields{"l": []any{2}},
			fields{"l": []any{1, 3}},
			fields{"l": []any{2}},
		},
		"an object instead of a string": {
			fields{"o": "x"},
			fields{"o": fields{"a": 1}},
			fields{"o": "x"},
			fields{"o": fields{"a": 1}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, mergeFields(tc.original, tc.modified, tc.current)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
