package validate

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/podtemplate"
)

// maxLevels is the maximum nesting of objects and lists in a part of a spec that has no type in the schema. The deepest
// field of a pod template has as many levels.
const maxLevels = 12

// unreadable rejects a spec of which package salvage removed a part. No other rule is applied to such a spec.
func unreadable(obj *v1alpha2.LlamaStackDistribution) field.ErrorList {
	problem, ok := obj.Annotations[names.UnreadableSpec]
	if !ok {
		return nil
	}
	return field.ErrorList{{Type: field.ErrorTypeInvalid, Detail: problem}}
}

// untyped lists the parts of a spec that have no type in the schema, or that contain such parts, as paths. A star
// stands for every field.
var untyped = [][]string{
	{"settings"},
	{"externalProviders"},
	{"providers", "*"},
	{"resources", "*"},
	{"networking", "expose"},
	{"workload", "overrides", "podTemplate"},
}

// nesting limits the depth of the parts that have no type in the schema, and the number of entries at each level.
// Without these limits, a stack that the API server stores could break every list of stacks. The other rules have more
// precise messages about long lists.
func nesting(c *checks) {
	data, err := json.Marshal(&c.Spec)
	if err != nil || c.failed {
		return // other rules reject a raw value that is not JSON
	}
	for _, path := range untyped {
		c.nested(spec(), data, path)
	}
}

// nested checks the parts of a value at a path.
func (c *checks) nested(at *field.Path, value json.RawMessage, path []string) {
	if len(path) == 0 {
		if tooNested(value) {
			c.Forbidden(at, "must have at most %d levels of objects and lists, and at most %d entries in each of them: "+
				"remove levels or entries, or move them to a ConfigMap", maxLevels, podtemplate.MaxEntries)
		}
		return
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(value, &fields) != nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if path[0] == name || path[0] == "*" {
			c.nested(at.Child(name), fields[name], path[1:])
		}
	}
}

// tooNested reports whether a JSON value has more levels, or more entries in an object or a list, than are allowed.
func tooNested(value []byte) bool {
	decoder := json.NewDecoder(bytes.NewReader(value))
	decoder.UseNumber()
	type level struct {
		tokens   int
		isObject bool
	}
	var open []level
	for {
		token, err := decoder.Token()
		if err != nil {
			return false
		}
		switch token {
		case json.Delim('}'), json.Delim(']'):
			open = open[:len(open)-1]
			continue
		}
		if len(open) > 0 {
			inner := &open[len(open)-1]
			inner.tokens++
			if most := podtemplate.MaxEntries; inner.tokens > most && !inner.isObject || inner.tokens > 2*most {
				return true
			}
		}
		if token == json.Delim('{') || token == json.Delim('[') {
			if open = append(open, level{isObject: token == json.Delim('{')}); len(open) > maxLevels {
				return true
			}
		}
	}
}
