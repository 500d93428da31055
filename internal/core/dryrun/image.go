package dryrun

import (
	"fmt"
	"slices"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/facts"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
)

// Image contains the facts that an operator reads from the labels of an image, and that a user can set with flags.
type Image struct {
	// Flags reports whether the command has these flags, so that remedies can name them.
	Flags bool
	// Release is the release of the server. Base is its configuration. Both can be empty.
	Release string
	Base    []byte
}

// resolve returns the image of a stack, with the release in its label if this label is known. The RELATED_IMAGE
// variables of the operator are not known.
func (m *Manifests) resolve(spec *v1alpha2.LlamaStackDistributionSpec) (facts.Image, error) {
	overrides, known := facts.NewOverrides(nil, m.Config), m.known()
	overrides.RelatedUnknown = true
	image, err := known.Image(spec.Distribution, overrides)
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

// isUnread reports whether the labels of an image are not known.
func (m *Manifests) isUnread(spec *v1alpha2.LlamaStackDistributionSpec, image *facts.Image) bool {
	return image.From != v1alpha2.ImageFromCatalogue &&
		!m.known().SameImage(spec.Distribution, image.Distribution.Image)
}

// unreadBase returns the note about a stack whose base configuration is in an image.
func (m *Manifests) unreadBase(input *plan.Input) string {
	image, remedy := input.Distribution.Image, "set spec.baseConfig, and add the ConfigMap to the files"
	if m.Image.Flags {
		remedy = fmt.Sprintf("set --base to a file with the output of kubectl llamastack image inspect %s -o config", image)
	}
	data := ""
	if input.Before != nil {
		data = " and the data that the change leaves behind"
	}
	return fmt.Sprintf("%s: %q: this command does not read images, so it does not check the parts of the stack that depend on the "+
		"configuration in this image%s; to check them, %s", distributionField(&input.Object.Spec), image, data, remedy)
}

// unreadRelease returns the note about a stack whose release is in a label of its image.
func (m *Manifests) unreadRelease(resolved *distribution.Resolved) string {
	remedy := ""
	if m.Image.Flags {
		remedy = "; to check another release, set --release"
	}
	return fmt.Sprintf("spec.distribution.image: %q: this command does not read images, and the tag of this image is not the "+
		"release of a server, so the command checks the stack for release %s%s", resolved.Image, resolved.Release.Line, remedy)
}

// distributionField returns the path of the field that selects the image.
func distributionField(spec *v1alpha2.LlamaStackDistributionSpec) string {
	if spec.Distribution.Name != "" {
		return "spec.distribution.name"
	}
	return "spec.distribution.image"
}
