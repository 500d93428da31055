package podtemplate

import (
	"encoding/json"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Decode returns the parts of a pod template that a patch sets, without its directives and without what it removes. It
// returns nil for an invalid patch.
func Decode(patch []byte) *corev1.PodTemplateSpec {
	var changes map[string]any
	if len(patch) > MaxBytes || json.Unmarshal(patch, &changes) != nil {
		return nil
	}
	template := &corev1.PodTemplateSpec{}
	if convert(kept(changes), template) != nil {
		return nil
	}
	return template
}

// kept returns a value without directives, and without objects that are removed.
func kept(value any) any {
	switch value := value.(type) {
	case map[string]any:
		fields := map[string]any{}
		for key, child := range value {
			if !strings.HasPrefix(key, "$") && !removed(child) {
				fields[key] = kept(child)
			}
		}
		return fields
	case []any:
		list := slices.DeleteFunc(slices.Clone(value), removed)
		for i := range list {
			list[i] = kept(list[i])
		}
		return list
	default:
		return value
	}
}

func removed(value any) bool {
	object, is := value.(map[string]any)
	return is && object[directive] == remove
}
