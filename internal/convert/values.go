package convert

import (
	"encoding/json"
	"slices"

	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// treeOf are the values of an object as a tree.
func treeOf(values map[string]any) *object {
	tree := &object{members: make([]member, 0, len(values))}
	for key, v := range values {
		tree.members = append(tree.members, member{key, value{raw: marshal(v)}})
	}
	return tree
}

// decoderFor is what reads JSON into values as others are: where they have numbers of Go, as an unstructured object
// does, and otherwise as they were written.
func decoderFor(values any) func(json.RawMessage) any {
	if hasGoNumber(values) {
		return decodeNumbers
	}
	return func(raw json.RawMessage) any { return decode(raw) }
}

func hasGoNumber(values any) bool {
	switch values := values.(type) {
	case int64, float64:
		return true
	case map[string]any:
		for _, v := range values {
			if hasGoNumber(v) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(values, hasGoNumber)
	}
	return false
}

// decodeNumbers reads one JSON value; numbers are int64 and float64.
func decodeNumbers(raw json.RawMessage) any {
	var v any
	if err := utiljson.Unmarshal(raw, &v); err != nil {
		return decode(raw) // a number that is none of Go's
	}
	return v
}

// values are those of an object, read by a decoder.
func (o *object) values(read func(json.RawMessage) any) map[string]any {
	result := make(map[string]any, len(o.members))
	for _, m := range o.members {
		result[m.key] = m.value.values(read)
	}
	return result
}

func (v value) values(read func(json.RawMessage) any) any {
	switch {
	case v.object != nil:
		return v.object.values(read)
	case v.list != nil:
		items := make([]any, len(*v.list))
		for i, item := range *v.list {
			items[i] = item.values(read)
		}
		return items
	case v.isRaw('"'):
		return text(v.raw)
	case v.isNull():
		return nil
	default:
		return read(v.raw)
	}
}
