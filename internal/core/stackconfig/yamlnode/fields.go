package yamlnode

import "go.yaml.in/yaml/v3"

// Fields finds the values of one mapping by key. The functions Get and Set search the keys one by one, which takes
// quadratic time for a mapping with many keys. Fields takes linear time. While Fields is in use, only its method Set
// may change the mapping.
type Fields struct {
	mapping *yaml.Node
	// at is the position of each key in the content.
	at map[string]int
}

// FieldsOf reads the keys of a mapping. If a key occurs more than once, the first occurrence is used. A node that is
// not a mapping has no fields.
func FieldsOf(mapping *yaml.Node) *Fields {
	f := &Fields{mapping: mapping, at: make(map[string]int, Len(mapping))}
	if mapping == nil || mapping.Kind != yaml.MappingNode {
		return f
	}
	for i := len(mapping.Content) - 2; i >= 0; i -= 2 {
		f.at[mapping.Content[i].Value] = i
	}
	return f
}

// Mapping returns the mapping that contains the fields.
func (f *Fields) Mapping() *yaml.Node { return f.mapping }

// Get returns the value of a key, or nil when there is none.
func (f *Fields) Get(key string) *yaml.Node {
	i, ok := f.at[key]
	if !ok {
		return nil
	}
	return f.mapping.Content[i+1]
}

// Set replaces the value of a key in place, or appends the key.
func (f *Fields) Set(key string, value *yaml.Node) {
	if i, ok := f.at[key]; ok {
		f.mapping.Content[i+1] = value
		return
	}
	f.at[key] = len(f.mapping.Content)
	f.mapping.Content = append(f.mapping.Content, String(key), value)
}
