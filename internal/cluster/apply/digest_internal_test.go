package apply

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestDigest checks that different objects have different digests, even if they are similar.
func TestDigest(t *testing.T) {
	known := map[[32]byte]any{}
	for _, value := range []any{
		nil, "", "a", "null", "true", "1", true, false, int64(1), int64(11), 1.5, "s1:a",
		[]any{},
		[]any{"a"},
		[]any{"a", "b"},
		[]any{"ab"},
		[]any{"a", []any{"b"}},
		[]any{[]any{"a"}, "b"},
		[]any{int64(1), int64(1)},
		map[string]any{},
		map[string]any{"a": "b"},
		map[string]any{"b": "a"},
		map[string]any{"a": "b", "c": "d"},
		map[string]any{"a": map[string]any{"b": "c"}},
	} {
		digest := digestOf(&unstructured.Unstructured{Object: map[string]any{"value": value}})
		if other, ok := known[digest]; ok {
			t.Errorf("%#v and %#v have the same digest", other, value)
		}
		known[digest] = value
	}
	large := map[string]any{}
	for _, key := range "abcdefghijklmnopqrstuvwxyz" {
		large[string(key)] = map[string]any{"x": int64(key), "y": []any{string(key)}}
	}
	one := &unstructured.Unstructured{Object: large}
	if digestOf(one) != digestOf(one.DeepCopy()) {
		t.Error("equal objects have different digests")
	}
}

// Keeps reports whether the Applier keeps a response that is newer than a cached object.
func (a *Applier) Keeps(owner Owner, cached *unstructured.Unstructured) bool {
	newer, err := a.answers.newer(owner.Key(), cached)
	return newer != nil && err == nil
}
