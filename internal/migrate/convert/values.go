package convert

import (
	"encoding/json"
	"slices"

	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// treeOf returns the values of an object as a tree.
func treeOf(values map[string]any) *object {
	tree := &object{members: make([]member, 0, len(values))}
	for key, v := range values {
		tree.members = append(tree.members, member{key, value{raw: marshal(v)}})
	}
	return tree
}

// decoderFor returns a function that decodes JSON in the same way as the given values were decoded. It decodes numbers
// to Go numbers if the values contain Go numbers, as in an unstructured object, and otherwise to json.Number.
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

// decodeNumbers decodes one JSON value. Numbers are int64 and float64.
func decodeNumbers(raw json.RawMessage) any {
	var v any
	if err := utiljson.Unmarshal(raw, &v); err != nil {
		return decode(raw) // Go's types cannot hold this number.
	}
	return v
}

// values returns the values of an object, decoded by a function.
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
