package dryrun

import (
	"slices"
	"strings"

	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/findings"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
)

// define adds the errors of the API server for a document. Without the definition, it adds warnings about the unknown
// fields of v1alpha1.
func (m *Manifests) define(s *Stack, found *Outcome) {
	if m.Definition == nil {
		for _, text := range s.dropped {
			found.Warnings = append(found.Warnings, text+DroppedField)
		}
		return
	}
	found.Errors = append(found.Errors, s.dropped...)
	found.Errors = append(found.Errors, m.refused(s, found.Errors)...)
}

// refused returns the errors of the API server for a document, without those at a path for which there is an error
// already. The messages of the other checks are better, because they contain remedies.
func (m *Manifests) refused(s *Stack, known []string) []string {
	if s.doc == nil || s.Large || s.doc.Meta.Kind != v1alpha2.Kind {
		return nil
	}
	var object map[string]any
	if utiljson.Unmarshal(s.doc.Data, &object) != nil {
		return nil // another check reports this
	}
	errs, err := m.Definition(object, s.Object.Namespace)
	if err != nil {
		return []string{"check the manifest as the API server does: " + err.Error()}
	}
	told := make([]string, 0, len(known))
	for _, text := range known {
		path, _ := findings.Split(text)
		told = append(told, dotted(path))
	}
	var refused []string
	for _, one := range errs {
		path := dotted(one.Field)
		if !slices.ContainsFunc(told, func(known string) bool { return within(path, known) || within(known, path) }) {
			refused = append(refused, intent.Message(one))
		}
	}
	return refused
}

// dotted writes the indexes and keys in a path as fields, because checks write keys in different ways.
func dotted(path string) string { return strings.NewReplacer("[", ".", "]", "", `"`, "").Replace(path) }
