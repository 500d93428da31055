package manifest

import (
	"maps"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
)

// Absorbed holds the fields that replace overrideConfig, with comments.
type Absorbed struct {
	// Spec holds fields of the v1alpha2 spec by name, as JSON values. Empty means that overrideConfig stays.
	Spec map[string]any
	// Env is appended to spec.workload.overrides.env.
	Env []any
	// Comments are comments on single fields.
	Comments []FieldComment
	// Remarks are written above the spec.
	Remarks []string
	// Stays lists the reasons why overrideConfig stays, one sentence each.
	Stays []string
}

// FieldComment is a comment on a field.
type FieldComment struct {
	// At is the path of the field: spec, providers, inference, 0, apiKey.
	At   []string
	Text string
}

// into writes the fields into a stack of v1alpha2.
func (a *Absorbed) into(stack map[string]any, said *remarks) {
	if len(a.Spec) == 0 {
		lines := []string{"--absorb-config does not change this field, and writes no part of it to other fields. The " +
			"reasons are:"}
		for _, sentence := range a.Stays {
			lines = append(lines, "- "+sentence)
		}
		said.say(strings.Join(lines, "\n"), "spec", "overrideConfig")
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
	said.ofSpec = append(said.ofSpec, a.Remarks...)
	for _, comment := range a.Comments {
		said.say(comment.Text, comment.At...)
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
