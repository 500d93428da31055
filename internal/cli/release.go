package cli

import (
	"fmt"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

// withRelease returns a copy of the stack with another release.
func withRelease(object *v1alpha2.LlamaStackDistribution, release string) (*v1alpha2.LlamaStackDistribution, error) {
	if object.Spec.Distribution.Name == "" {
		return nil, fmt.Errorf("spec.distribution.image: %q: the image determines the release; to use another release, set "+
			"another image or spec.distribution.name", object.Spec.Distribution.Image)
	}
	changed := object.DeepCopy()
	changed.Spec.Distribution.Version = release
	return changed, nil
}

// runOn sets the release of every stack.
func (m *manifests) runOn(release string) error {
	for i := range m.stacks {
		if !m.stacks[i].decoded {
			continue
		}
		changed, err := withRelease(m.stacks[i].object, release)
		if err != nil {
			return &rejection{problems: []string{m.stacks[i].title() + ": " + err.Error()}, summary: "nothing was rendered"}
		}
		m.stacks[i].object = changed
	}
	return nil
}
