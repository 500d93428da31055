package manifests

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/document"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/dryrun"
)

// Gather returns the objects in documents. If the documents contain no stack, the error is a rejection that names the
// sources of the documents, such as files.
func Gather(documents []document.Document, names []string, namespace string) (*dryrun.Manifests, error) {
	found := dryrun.Gather(documents, namespace)
	if len(found.Stacks) == 0 {
		return nil, &app.Rejection{
			Problems: append(slices.Clone(found.Notes), found.Nothing(names...)), Summary: "no stack was found",
		}
	}
	return found, nil
}

// choose removes the stacks that a label selector does not select. It keeps a stack that cannot be decoded and has no
// name, because the labels of such a stack are not known. If no stack remains, the error is a rejection.
func choose(m *dryrun.Manifests, selector string) error {
	if selector == "" {
		return nil
	}
	chosen, err := labels.Parse(selector)
	if err != nil {
		return fmt.Errorf("--selector %q: %w", selector, err)
	}
	m.Stacks = slices.DeleteFunc(m.Stacks, func(s dryrun.Stack) bool {
		return (s.Decoded || s.Object.Name != "") && !chosen.Matches(labels.Set(s.Object.Labels))
	})
	if len(m.Stacks) == 0 {
		return &app.Rejection{Problems: []string{fmt.Sprintf("--selector %q: no stack in the files matches the selector; correct the selector", selector)}, Summary: "no stack is selected"}
	}
	return nil
}
