package manifest

import (
	"maps"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// Absorbed contains the fields that replace overrideConfig, with comments.
type Absorbed struct {
	// Spec contains fields of the v1alpha2 spec by name, as JSON values. Empty means that overrideConfig does not change.
	Spec map[string]any
	// Env contains entries to append to spec.workload.overrides.env.
	Env []any
	// Comments are comments on single fields.
	Comments []Comment
	// Remarks are comments above the spec.
	Remarks []string
	// Stays contains a sentence for each reason why overrideConfig does not change.
	Stays []string
}

// into sets the fields in a v1alpha2 stack, and adds the comments to notes. If Spec is empty, it only adds a comment
// with the reasons in Stays.
func (a *Absorbed) into(stack map[string]any, notes *remarks) {
	if len(a.Spec) == 0 {
		lines := []string{"The following prevented the flag --absorb-config from replacing this field with other fields:"}
		for _, sentence := range a.Stays {
			lines = append(lines, "- "+sentence)
		}
		notes.add(strings.Join(lines, "\n"), "spec", "overrideConfig")
		return
	}
	spec := section(stack, "spec")
	delete(spec, "overrideConfig")
	if given, ok := child(stack, "metadata", "annotations"); ok {
		delete(given, names.AnnotationUserConfigNamespace)
	}
	maps.Copy(spec, a.Spec)
	if len(a.Env) > 0 {
		overrides := section(section(spec, "workload"), "overrides")
		env, _ := overrides["env"].([]any)
		overrides["env"] = append(env, a.Env...)
	}
	notes.ofSpec = append(notes.ofSpec, a.Remarks...)
	for _, comment := range a.Comments {
		notes.add(comment.Text, comment.At...)
	}
}

// section returns a nested object, and creates it if it is missing.
func section(object map[string]any, key string) map[string]any {
	inner, ok := object[key].(map[string]any)
	if !ok {
		inner = map[string]any{}
		object[key] = inner
	}
	return inner
}
