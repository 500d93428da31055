package convert

import "maps"

// path leads through JSON objects. An empty one is the root.
type path []string

// at is the value at a path, nil when there is none.
func at(tree map[string]any, p path) any {
	value, _ := lookup(tree, p)
	return value
}

func lookup(tree map[string]any, p path) (any, bool) {
	var value any = tree
	for _, step := range p {
		fields, ok := value.(map[string]any)
		if !ok {
			return nil, false
		}
		if value, ok = fields[step]; !ok {
			return nil, false
		}
	}
	return value, true
}

// set writes a value and makes the objects on the way. Where something else
// stands on the way, nothing is written: only a damaged annotation asks for that.
func set(tree map[string]any, p path, value any) {
	for _, step := range p[:len(p)-1] {
		next, ok := tree[step]
		if !ok {
			next = make(map[string]any)
			tree[step] = next
		}
		if tree, ok = next.(map[string]any); !ok {
			return
		}
	}
	tree[p[len(p)-1]] = value
}

// deleteAt removes what is at a path.
func deleteAt(tree map[string]any, p path) {
	parent, ok := at(tree, p[:len(p)-1]).(map[string]any)
	if ok {
		delete(parent, p[len(p)-1])
	}
}

// merged is the union of two objects; of a key in both, over's value.
func merged(under, over map[string]any) map[string]any {
	result := make(map[string]any, len(under)+len(over))
	maps.Copy(result, under)
	maps.Copy(result, over)
	return result
}
