package dryrun

import (
	"cmp"
	"fmt"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/plan"
)

// Image contains the facts about an image that an operator reads from the labels of the image.
type Image struct {
	// Name is the image as stacks name it. Empty means every image whose labels an operator would read.
	Name string
	// Release is the release of the server. Base is its configuration. Both can be empty.
	Release string
	Base    []byte
}

// image returns the known facts about the image of a stack. It returns false if an operator does not read the labels of
// this image, because the image is in the catalog.
func (m *Manifests) image(spec *v1alpha2.LlamaStackDistributionSpec, name string) (known Image, read bool) {
	if _, read = m.Config.Images.Image(spec.Distribution.Name, spec.Distribution.Version); !read && spec.Distribution.Image == "" {
		return Image{}, false
	}
	for i := range m.Images {
		if one := &m.Images[i]; one.Name == "" || one.Name == name {
			known.Release = cmp.Or(one.Release, known.Release)
			if one.Base != nil {
				known.Base = one.Base
			}
		}
	}
	return known, true
}

// isUnread reports whether the labels of an image are not known.
func (m *Manifests) isUnread(spec *v1alpha2.LlamaStackDistributionSpec, resolved *distribution.Resolved) bool {
	_, read := m.image(spec, resolved.Image)
	return read && (m.running == nil || m.running.Record.Distribution.Image != resolved.Image)
}

// unreadBase returns the note about a stack whose base configuration is in an image.
func (m *Manifests) unreadBase(input *plan.Input) string {
	image, remedy := input.Distribution.Image, "set spec.baseConfig, and add the ConfigMap to the files"
	if m.TakesBase {
		remedy = fmt.Sprintf("set --base to a file with the output of kubectl llamastack image inspect %s -o yaml", image)
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
	if m.TakesBase {
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
