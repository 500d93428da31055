package dryrun

import (
	"fmt"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

// WithRelease returns a copy of a stack with a different server release.
func WithRelease(object *v1alpha2.LlamaStackDistribution, release string) (*v1alpha2.LlamaStackDistribution, error) {
	if object.Spec.Distribution.Name == "" {
		return nil, fmt.Errorf("spec.distribution.image: %q: the image determines the release; to use another release, set "+
			"another image, or set spec.distribution.name", object.Spec.Distribution.Image)
	}
	changed := object.DeepCopy()
	changed.Spec.Distribution.Version = release
	return changed, nil
}
