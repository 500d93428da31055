package dryrun

import (
	"fmt"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/externalprovider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
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

// notes returns remarks about renamed models, and about the facts that are not known here. A nil plan means that the
// stack cannot be planned.
func (m *Manifests) notes(in *plan.Input, built *plan.Plan) []string {
	notes := m.unreadReferences(in.Object, in.Intent)
	switch {
	case in.LacksBase():
		return append(notes, m.unreadBase(in))
	case built == nil:
		return notes
	}
	spec, image := &in.Object.Spec, in.Distribution.Image
	if in.Unread && in.Distribution.DetectedBy == distribution.Unknown && spec.Distribution.Image != "" &&
		built.Mode != plan.ModeImageDefault {
		notes = append(notes, m.unreadRelease(&in.Distribution))
	}
	if secret := render.TLSSecret(spec); in.Serving == nil && secret != "" && built.ServesTLS &&
		built.Exposure == render.HTTPRouteKind {
		notes = append(notes, unreadCertificate(in.Object.Name, secret))
	}
	for _, model := range built.Models {
		if model.ID != model.Name {
			notes = append(notes, model.String())
		}
	}
	for _, provider := range built.External() {
		notes = append(notes, unreadExternal(provider))
	}
	if in.Unread && plan.NeedsBase(spec) && spec.BaseConfig == nil && spec.Distribution.Name != "" {
		notes = append(notes, fmt.Sprintf("this command does not read the labels of image %q; in a cluster, the operator uses "+
			"the configuration in these labels and, unless the stack specifies a version, the release in these labels", image))
	}
	return notes
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

// unreadCertificate returns the note about a certificate that was not read. The note names the objects that the
// operator creates from the certificate.
func unreadCertificate(stack, secret string) string {
	return fmt.Sprintf("this command does not read the certificate in Secret %q; in a cluster, the operator creates "+
		"BackendTLSPolicy %q and ConfigMap %q from the certificate and the %s key in the Secret",
		secret, names.BackendTLSPolicy(stack), names.ServerCA(stack), names.TLSAuthority)
}

// unreadExternal returns the note about facts of an external provider that are known only after the operator or a pod
// has read the image.
func unreadExternal(one render.ExternalProvider) string {
	return fmt.Sprintf("%s: this command does not read image %q, so it does not check provider %q; in a "+
		"cluster, the operator checks the provider's type, module and API if the image has the label %s; otherwise, the pod "+
		"checks them when it starts; the pod also checks that the provider's package is compatible with the server",
		one.Path, one.Image, one.ID, externalprovider.Label)
}
