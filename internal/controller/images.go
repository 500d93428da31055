package controller

import (
	"cmp"
	"context"
	"maps"
	"sync"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operatorconfig"
)

// images are those in place of the catalogue's, as they are at the moment.
type images struct {
	// all of them: the operator's ConfigMap goes before RELATED_IMAGE variables.
	all distribution.Overrides
	// configured are the ConfigMap's.
	configured distribution.Overrides
	// unknown: the ConfigMap was bad ever since the operator started, and may ask
	// for anything.
	unknown bool
}

func (r *Reconciler) images(ctx context.Context, s *state) (images, error) {
	config, err := r.configFor(ctx, s)
	if err != nil {
		return images{}, err
	}
	all := distribution.Overrides{}
	maps.Copy(all, r.relatedImages)
	maps.Copy(all, config.Images)
	return images{all, config.Images, config.Unknown(operatorconfig.KeyImageOverrides)}, nil
}

// override is the image in place of the catalogue's for what a stack asks for,
// and where it was found.
func (i images) override(s *state) (image string, from v1alpha2.ImageSource, ok bool) {
	asked := s.object.Spec.Distribution
	if image, ok := i.configured.Image(asked.Name, asked.Version); ok {
		return image, v1alpha2.ImageFromOperatorConfig, true
	}
	if i.unknown {
		if image, from, ok := runningImage(s); ok {
			return image, from, true
		}
	}
	image, ok = i.all.Image(asked.Name, asked.Version)
	return image, v1alpha2.ImageFromRelatedImage, ok
}

// runningImage is the image that was rendered last for the name and version that
// the stack asks for, and where that was found: a stack that runs keeps it until
// the ConfigMap can be read.
func runningImage(s *state) (image string, from v1alpha2.ImageSource, ok bool) {
	asked, running, in := s.object.Spec.Distribution, s.running, s.object.Status.ResolvedDistribution
	running.Image = cmp.Or(running.Distribution.Image, running.Image)
	if running.Image == "" || running.Distribution.Name != asked.Name || running.Distribution.Version != asked.Version {
		return "", "", false
	}
	switch {
	case in != nil && in.Image == running.Image:
		return running.Image, in.ImageFrom, true
	case running.Image == running.Distribution.CatalogueImage:
		return running.Image, v1alpha2.ImageFromCatalogue, true
	default:
		return running.Image, v1alpha2.ImageFromOperatorConfig, true
	}
}

// available remembers the distributions that the operator knows and their images, as
// users of v1alpha1 know them: they are in every status, and change with the operator's
// ConfigMap only.
type available struct {
	mu        sync.Mutex
	overrides distribution.Overrides
	images    map[string]string
}

// with gives them, not to be changed, for images in place of the catalogue's.
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
