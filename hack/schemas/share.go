package main

import (
	"fmt"
	"maps"
	"slices"
)

// shared is the minimum length, in bytes, of a schema that is shared.
const shared = 100

// sharer moves equal parts of a schema to its definitions.
type sharer struct {
	// counts holds the number of occurrences of each part, keyed by the text of the part.
	counts      map[string]int
	names       map[string]string
	definitions object
}

// share moves long parts of a schema to the schema's definitions if they occur more than once. A reference replaces
// each occurrence, and keeps the description of that occurrence.
func share(schema, definitions object) {
	s := &sharer{counts: map[string]int{}, names: map[string]string{}, definitions: definitions}
	s.eachPart(schema, "", func(part object, _ string) any {
		s.counts[textOf(part)]++
		return part
	}, true)
	s.replaceParts(schema, "", 1)
	schema["definitions"] = s.definitions
}

// textOf returns the text of a part without its description.
func textOf(part object) string {
	bare := maps.Clone(part)
	delete(bare, "description")
	return compact(bare)
}

// replaceParts replaces long parts of a schema with references if the parts occur more often than the schema itself.
func (s *sharer) replaceParts(schema object, name string, count int) {
	s.eachPart(schema, name, func(part object, name string) any {
		text := textOf(part)
		own := s.counts[text]
		if own <= count || len(text) < shared {
			s.replaceParts(part, name, count)
			return part
		}
		if _, ok := s.names[text]; !ok {
			s.names[text] = s.free(name)
			bare := maps.Clone(part)
			delete(bare, "description")
			s.definitions[s.names[text]] = bare
			s.replaceParts(bare, name, own)
		}
		reference := ref(s.names[text])
		if description, ok := part["description"]; ok {
			reference["description"] = description
		}
		return reference
	}, false)
}

// free returns an unused name for a definition.
func (s *sharer) free(name string) string {
	for i := 1; ; i++ {
		candidate := name
		if i > 1 {
			candidate = fmt.Sprintf("%s%d", name, i)
		}
		if _, taken := s.definitions[candidate]; !taken {
			return candidate
		}
	}
}

// eachPart calls a function for each schema directly below a schema, with the name of the nearest field, and replaces
// the inner schema with the result. If `deep` is true, it visits all deeper schemas first.
func (s *sharer) eachPart(schema object, name string, visit func(part object, name string) any, deep bool) {
	one := func(holder object, key, name string) {
		if part, ok := holder[key].(object); ok {
			if deep {
				s.eachPart(part, name, visit, deep)
			}
			holder[key] = visit(part, name)
		}
	}
	if properties, ok := schema["properties"].(object); ok {
		properties = maps.Clone(properties)
		for _, key := range slices.Sorted(maps.Keys(properties)) {
			one(properties, key, key)
		}
		schema["properties"] = properties
	}
	for _, key := range []string{"additionalProperties", "items"} {
		one(schema, key, name)
	}
}
