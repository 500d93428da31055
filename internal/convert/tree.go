package convert

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
)

// A tree has the values of encoding/json with UseNumber, and json.RawMessage: JSON that nobody has looked into yet.
// Most of an object is only copied, and stays the bytes it was.

// path leads through JSON objects.
type path []string

// at is the value at a path, nil when there is none. An object is opened for good, a raw list stays raw.
func at(tree map[string]any, p path) any {
	value, ok := lookup(tree, p)
	if inner, isRaw := openObject(value); isRaw {
		set(tree, p, inner)
		return inner
	}
	if !ok {
		return nil
	}
	return opened(value)
}

// lookup is the value at a path as it stands there. Objects on the way are opened for good.
func lookup(tree map[string]any, p path) (any, bool) {
	for _, step := range p[:len(p)-1] {
		value := tree[step]
		inner, isRaw := openObject(value)
		if isRaw {
			tree[step] = inner
		} else if inner, _ = value.(map[string]any); inner == nil {
			return nil, false
		}
		tree = inner
	}
	value, ok := tree[p[len(p)-1]]
	return value, ok
}

// set writes a value and makes the objects on the way. Where something else stands on the way, nothing is written: only
// a damaged annotation asks for that.
func set(tree map[string]any, p path, value any) {
	for _, step := range p[:len(p)-1] {
		inner, given := tree[step]
		next, isObject := object(inner)
		if given && !isObject {
			return
		}
		if !given {
			next = make(map[string]any)
		}
		tree[step] = next
		tree = next
	}
	tree[p[len(p)-1]] = value
}

// deleteAt removes what is at a path.
func deleteAt(tree map[string]any, p path) {
	parent := tree
	if len(p) > 1 {
		parent, _ = at(tree, p[:len(p)-1]).(map[string]any)
	}
	delete(parent, p[len(p)-1])
}

// object is a value as an object, opened if it is raw.
func object(value any) (map[string]any, bool) {
	if inner, ok := openObject(value); ok {
		return inner, true
	}
	fields, ok := value.(map[string]any)
	return fields, ok
}

// clone copies objects and lists. Raw values are never changed, and shared.
func clone(value any) any {
	switch value := value.(type) {
	case map[string]any:
		return cloneObject(value)
	case []any:
		result := make([]any, len(value))
		for i := range value {
			result[i] = clone(value[i])
		}
		return result
	default:
		return value
	}
}

func cloneObject(fields map[string]any) map[string]any {
	result := make(map[string]any, len(fields))
	for key, value := range fields {
		result[key] = clone(value)
	}
	return result
}

// plain reads what is raw in an object: what came out of an annotation.
func plain(fields map[string]any) {
	for key, value := range fields {
		switch value := value.(type) {
		case json.RawMessage:
			fields[key] = decode(value)
		case map[string]any:
			plain(value)
		}
	}
}

// isNull reports whether a value is null, which is the same as none.
func isNull(value any) bool {
	raw, isRaw := value.(json.RawMessage)
	return value == nil || isRaw && raw[0] == 'n'
}

// equal compares two values by what they mean, whether somebody has looked into them or not. Numbers are equal when they
// are spelt alike.
func equal(a, b any) bool {
	rawA, isRaw := a.(json.RawMessage)
	rawB, alsoRaw := b.(json.RawMessage)
	if isRaw && alsoRaw {
		return bytes.Equal(rawA, rawB) || bytes.Equal(encode(a), encode(b))
	}
	x, isObject := object(a)
	y, alsoObject := object(b)
	if isObject || alsoObject {
		return isObject && alsoObject && maps.EqualFunc(x, y, equal)
	}
	items, isList := openList(a)
	others, alsoList := openList(b)
	if isList || alsoList {
		return isList && alsoList && slices.EqualFunc(items, others, equal)
	}
	return bytes.Equal(encode(a), encode(b))
}

// merged is the union of two objects; of a key in both, over's value.
func merged(under, over map[string]any) map[string]any {
	result := make(map[string]any, len(under)+len(over))
	maps.Copy(result, under)
	maps.Copy(result, over)
	return result
}
