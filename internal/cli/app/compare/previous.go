package compare

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/files"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/manifests"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/dryrun"
)

// flagPrevious is the prefix of messages about the files in --previous.
const flagPrevious = "--previous: "

// ReadPrevious returns the running stacks in the files of --previous. The ConfigMaps that these stacks refer to may
// also be in m.
func ReadPrevious(m *dryrun.Manifests, path, namespace string, stdin io.Reader) (*dryrun.Manifests, error) {
	documents, err := files.Read(path, stdin)
	if err != nil {
		return nil, fmt.Errorf(flagPrevious+"%w", err)
	}
	previous, err := manifests.Gather(documents, []string{path}, namespace)
	if rejected, ok := errors.AsType[*app.Rejection](err); ok {
		for i := range rejected.Problems {
			rejected.Problems[i] = flagPrevious + rejected.Problems[i]
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
		return &app.Rejection{Problems: unreadable, Summary: "not all running stacks can be read"}
	}
	return nil
}
