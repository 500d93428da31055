package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/dryrun"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/files"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
)

// readPrevious returns the running stacks. The objects that they refer to may be in either set of files.
func readPrevious(m *dryrun.Manifests, path, namespace string, stdin io.Reader) (*dryrun.Manifests, error) {
	const flag = "--previous: "
	documents, err := files.Read(path, stdin)
	if err != nil {
		return nil, fmt.Errorf(flag+"%w", err)
	}
	previous, err := gather(documents, []string{path}, namespace)
	if rejected, ok := errors.AsType[*rejection](err); ok {
		for i := range rejected.problems {
			rejected.problems[i] = flag + rejected.problems[i]
		}
		return nil, rejected
	}
	if err != nil {
		return nil, fmt.Errorf(flag+"%w", err)
	}
	var unreadable []string
	for _, s := range previous.Stacks {
		if s.Object.Name == "" && !s.Decoded {
			unreadable = append(unreadable, flag+s.Title()+": "+s.Errors[0])
		}
	}
	if len(unreadable) > 0 {
		return nil, &rejection{problems: unreadable, summary: "the running stacks are not known"}
	}
	previous.Config = m.Config
	for key, configMap := range m.ConfigMaps {
		if _, own := previous.ConfigMaps[key]; !own {
			previous.ConfigMaps[key] = configMap
		}
	}
	return previous, nil
}

// offlineChange plans a stack as a change of the running stack with the same name and namespace.
func offlineChange(m *dryrun.Manifests, s dryrun.Stack, previous *dryrun.Manifests) dryrun.Outcome {
	i := slices.IndexFunc(previous.Stacks, func(other dryrun.Stack) bool {
		return other.Object.Name == s.Object.Name && other.Object.Namespace == s.Object.Namespace
	})
	if i < 0 {
		found := m.Plan(s)
		found.Notes = append(found.Notes, fmt.Sprintf("--previous does not contain stack %q of namespace %q; its data is "+
			"not checked",
			s.Object.Name, s.Object.Namespace))
		return found
	}
	before := previous.Stacks[i]
	running := previous.Plan(before)
	if running.Plan == nil {
		found := m.Plan(s)
		found.Warnings = append(found.Warnings, "the stack in --previous gives no configuration, so its data is not "+
			"checked: "+
			before.Title()+": "+running.Errors[0])
		return found
	}
	if names.Compat(before.Object.Annotations) && !names.Compat(s.Object.Annotations) {
		// Applying a manifest of another version does not remove the annotation.
		s.Object = s.Object.DeepCopy()
		metav1.SetMetaDataAnnotation(&s.Object.ObjectMeta, names.AnnotationCompat,
			before.Object.Annotations[names.AnnotationCompat])
	}
	return m.PlanSince(s, running.Plan.Places)
}
