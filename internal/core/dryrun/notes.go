package dryrun

import (
	"fmt"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/externalprovider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/operatorconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
)

// unknownBounds returns the warning for a namespace whose bounds depend on labels that are not known.
func (m *Manifests) unknownBounds(namespace string) string {
	remedy := "add a manifest of the namespace to the files"
	switch {
	case m.Live:
		remedy = "ask an administrator for permission to get the namespace"
	case m.Pasted:
		remedy = "add a manifest of the namespace"
	}
	return fmt.Sprintf("the key %q in the operator's ConfigMap selects limits by labels, and the labels of namespace %q are "+
		"not known, so this command checks the stack as if the namespace had no labels; %s",
		operatorconfig.KeyBounds, namespace, remedy)
}

// notes returns remarks about renamed models, and about images that this command does not read.
func (m *Manifests) notes(s Stack, built *plan.Plan) []string {
	var notes []string
	for _, model := range built.Models {
		if model.Renamed() {
			notes = append(notes, model.String())
		}
	}
	notes = append(notes, externalNotes(built.External())...)
	spec := &s.Object.Spec
	image, err := m.resolve(spec)
	if err == nil && plan.NeedsBase(spec) && spec.BaseConfig == nil && spec.Distribution.Name != "" &&
		m.isUnread(spec, &image) {
		notes = append(notes, fmt.Sprintf("this command does not read the labels of image %q; in a cluster, the operator uses "+
			"the configuration in these labels and, unless the stack specifies a version, the release in these labels", image.Distribution.Image))
	}
	return notes
}

// externalNotes returns a note for each external provider about facts that are known only after the operator or a pod
// has read the image.
func externalNotes(providers []render.ExternalProvider) []string {
	var notes []string
	for i := range providers {
		one := &providers[i]
		notes = append(notes, fmt.Sprintf("%s: this command does not read image %q, so it does not check provider %q; in a "+
			"cluster, the operator checks the provider's type, module and API if the image has the label %s; otherwise, the pod "+
			"checks them when it starts; the pod also checks that the provider's package is compatible with the server",
			one.Path, one.Image, one.ID, externalprovider.Label))
	}
	return notes
}
