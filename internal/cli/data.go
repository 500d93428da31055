package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/files"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/dryrun"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/profile"
)

// flagPrevious is the prefix of messages about the files in --previous.
const flagPrevious = "--previous: "

// readPrevious returns the running stacks in the files of --previous. The ConfigMaps that these stacks refer to may
// also be in m.
func readPrevious(m *dryrun.Manifests, path, namespace string, stdin io.Reader) (*dryrun.Manifests, error) {
	documents, err := files.Read(path, stdin)
	if err != nil {
		return nil, fmt.Errorf(flagPrevious+"%w", err)
	}
	previous, err := gather(documents, []string{path}, namespace)
	if rejected, ok := errors.AsType[*rejection](err); ok {
		for i := range rejected.problems {
			rejected.problems[i] = flagPrevious + rejected.problems[i]
		}
		return nil, rejected
	}
	if err != nil {
		return nil, fmt.Errorf(flagPrevious+"%w", err)
	}
	if err := unreadStacks(previous); err != nil {
		return nil, err
	}
	previous.Config, previous.NotesUnknown = m.Config, m.NotesUnknown
	if slices.Equal(previous.LabeledImages(), m.LabeledImages()) {
		previous.Image = m.Image
	}
	for key, configMap := range m.ConfigMaps {
		if _, own := previous.ConfigMaps[key]; !own {
			previous.ConfigMaps[key] = configMap
		}
	}
	return previous, nil
}

// unreadStacks returns an error if a running stack cannot be read.
func unreadStacks(previous *dryrun.Manifests) error {
	var unreadable []string
	for _, s := range previous.Stacks {
		if s.Object.Name == "" && !s.Decoded {
			unreadable = append(unreadable, flagPrevious+s.Title()+": "+s.Errors[0])
		}
	}
	if len(unreadable) > 0 {
		return &rejection{problems: unreadable, summary: "not all running stacks can be read"}
	}
	return nil
}

// runningStack returns the running stack that has the name and the namespace of s, and false if there is none.
func runningStack(previous *dryrun.Manifests, s dryrun.Stack) (dryrun.Stack, bool) {
	i := slices.IndexFunc(previous.Stacks, func(other dryrun.Stack) bool {
		return other.Object.Name == s.Object.Name && other.Object.Namespace == s.Object.Namespace
	})
	if i < 0 {
		return dryrun.Stack{}, false
	}
	return previous.Stacks[i], true
}

// withCompat returns a stack with the compatibility annotation of the running stack, if applying the manifest of the
// stack does not remove the annotation.
func withCompat(s, running dryrun.Stack) dryrun.Stack {
	was, is := profile.Of(running.Object.Annotations).V1alpha1, profile.Of(s.Object.Annotations).V1alpha1
	if was && !is && keepsCompat(running) {
		s.Object = s.Object.DeepCopy()
		metav1.SetMetaDataAnnotation(&s.Object.ObjectMeta, names.AnnotationCompat,
			running.Object.Annotations[names.AnnotationCompat])
	}
	return s
}

// keepsCompat reports whether a running stack keeps its compatibility annotation when a manifest without the annotation
// is applied. The operator adds the annotation to a v1alpha1 stack. A client removes only an annotation that it added
// itself, which the client's own record shows.
func keepsCompat(running dryrun.Stack) bool {
	applied, recorded := running.Object.Annotations[corev1.LastAppliedConfigAnnotation]
	return running.Older || recorded && !strings.Contains(applied, names.AnnotationCompat)
}

// offlineChange plans a stack as a change to the running stack with the same name and namespace.
func offlineChange(m *dryrun.Manifests, s dryrun.Stack, previous *dryrun.Manifests) dryrun.Outcome {
	sides := comparedWith(m, s, previous)
	found, before := sides.after, sides.before
	switch {
	case !sides.input.Exists:
		found.Notes = append(found.Notes, fmt.Sprintf("--previous does not contain stack %q in namespace %q, so this command "+
			"does not check the data of the stack", s.Object.Name, s.Object.Namespace))
	case before.Plan != nil:
	case len(before.Errors) > 0:
		found.Warnings = append(found.Warnings, "this command cannot generate a configuration from the stack in --previous, so the "+
			"command does not check the data of the stack: "+sides.running.Title()+": "+before.Errors[0])
	default:
		found.Notes = append(found.Notes, "the configuration of the stack in --previous is in an image, which this command does not "+
			"read, so the command does not check the data of the stack")
	}
	return found
}
