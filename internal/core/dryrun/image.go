package dryrun

import (
	"fmt"
	"slices"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/facts"
)

// Image contains the facts that an operator reads from the labels of an image, and that a user can set with flags.
type Image struct {
	// Flags reports whether the command has these flags, so that remedies can name them.
	Flags bool
	// Release is the release of the server. Base is its configuration. Both can be empty.
	Release string
	Base    []byte
}

// resolve returns the image of a stack, with the release in its label if this label is known.
func (m *Manifests) resolve(spec *v1alpha2.LlamaStackDistributionSpec) (facts.Image, error) {
	known := &m.running
	image, err := known.Image(spec.Distribution, facts.NewOverrides(m.Platform.Related, m.Config))
	if err != nil {
		return image, fmt.Errorf("%s: %w", distribution.Path(err), err)
	}
	if image.From == v1alpha2.ImageFromCatalogue {
		return image, nil
	}
	label := m.Image.Release
	if label == "" && known.SameImage(spec.Distribution, image.Distribution.Image) {
		label = known.Record.Distribution.Label
	}
	image.Distribution = image.Distribution.WithLabel(label, true)
	return image, nil
}

// LabeledImages returns the images of all stacks that are not in the catalog, sorted.
func (m *Manifests) LabeledImages() []string {
	var images []string
	for i := range m.Stacks {
		image, err := m.resolve(&m.Stacks[i].Object.Spec)
		name := image.Distribution.Image
		if err == nil && image.From != v1alpha2.ImageFromCatalogue && !slices.Contains(images, name) {
			images = append(images, name)
		}
	}
	slices.Sort(images)
	return images
}

// distributionField returns the path of the field that selects the image.
func distributionField(spec *v1alpha2.LlamaStackDistributionSpec) string {
	if spec.Distribution.Name != "" {
		return "spec.distribution.name"
	}
	return "spec.distribution.image"
}

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
