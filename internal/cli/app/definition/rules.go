package definition

import (
	"maps"
	"sync"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

// rules compiles the CEL rules of a schema. To compile all of them takes longer than every other check of one file, and
// few of them apply to a usual stack. So rules compiles those that apply to the first object, and all of them as soon
// as another one applies.
type rules struct {
	mu       sync.Mutex
	compiled *cel.Validator
	// paths are the paths of the compiled rules. Nil means all, unless compiled is nil.
	paths map[string]bool
}

// of returns the compiled rules of a schema. They contain all rules that apply to the object.
func (r *rules) of(schema *structuralschema.Structural, object map[string]any) *cel.Validator {
	needed := map[string]bool{}
	addPaths(needed, schema, object, "")
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.compiled == nil:
		part := only(schema, needed, "")
		r.compiled, r.paths = cel.NewValidator(part, true, celconfig.PerCallLimit), needed
	case r.paths != nil && !containsAll(r.paths, needed):
		r.compiled, r.paths = cel.NewValidator(schema, true, celconfig.PerCallLimit), nil
	}
	return r.compiled
}

func containsAll(set, subset map[string]bool) bool {
	for path := range subset {
		if !set[path] {
			return false
		}
	}
	return true
}

// addPaths adds the paths of the parts of a schema that have rules and apply to a value. The path of a part contains no
// index and no key of a map.
func addPaths(paths map[string]bool, schema *structuralschema.Structural, value any, path string) {
	if len(schema.XValidations) > 0 {
		paths[path] = true
	}
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			if schema.Items != nil {
				addPaths(paths, schema.Items, item, path+"[]")
			}
		}
	case map[string]any:
		for key, item := range value {
			if property, ok := schema.Properties[key]; ok {
				addPaths(paths, &property, item, path+"."+key)
			} else if more := schema.AdditionalProperties; more != nil && more.Structural != nil {
				addPaths(paths, more.Structural, item, path+"{}")
			}
		}
	}
}

// only returns a copy of a schema with the rules at these paths. The types of all values remain, because rules refer to
// them.
func only(schema *structuralschema.Structural, paths map[string]bool, path string) *structuralschema.Structural {
	part := *schema
	if !paths[path] {
		part.XValidations = nil
	}
	if part.Items != nil {
		part.Items = only(part.Items, paths, path+"[]")
	}
	part.Properties = maps.Clone(part.Properties)
	for key, property := range part.Properties {
		part.Properties[key] = *only(&property, paths, path+"."+key)
	}
	if more := part.AdditionalProperties; more != nil && more.Structural != nil {
		part.AdditionalProperties = &structuralschema.StructuralOrBool{Structural: only(more.Structural, paths, path+"{}")}
	}
	return &part
}
