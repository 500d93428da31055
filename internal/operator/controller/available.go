package controller

import (
	"maps"
	"sync"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
)

// available caches the names of the operator's distributions and their images for the statuses of v1alpha1 stacks. The
// names and images change only with the operator's ConfigMap.
type available struct {
	mu        sync.Mutex
	overrides distribution.Overrides
	images    map[string]string
}

// with returns the image of each distribution for the given image overrides. Callers must not change the result.
func (a *available) with(overrides distribution.Overrides) map[string]string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.images != nil && maps.Equal(a.overrides, overrides) {
		return a.images
	}
	a.overrides, a.images = overrides, map[string]string{}
	for _, name := range distribution.Known(overrides) {
		if known, err := distribution.Resolve(name, "", "", overrides); err == nil {
			a.images[name] = known.Image
		}
	}
	return a.images
}
