package validate

import (
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/profile"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

// maxObjectName is the maximum length of a stack's name. With the suffix -service, a name of this length has 63
// characters, which is the maximum length of a DNS label and so of a Service's name.
const maxObjectName = 55

var labelForm = regexp.MustCompile(`^[a-z]([-a-z0-9]*[a-z0-9])?$`)

// name checks the stack's name against the limits for the names of its children. A v1alpha1 stack can also have a name
// that Kubernetes accepts for all its children except the Service. Not every such stack has a Service (see
// serviceless).
func name(c *checks) {
	path := field.NewPath("metadata", "name")
	switch {
	case c.Name == "":
		c.Required(path, "required: set the name of the stack; the operator derives the names of the Service and the other objects from this name")
	case profile.Of(c.Annotations).LongName:
		if len(c.Name) > validation.LabelValueMaxLength {
			c.InvalidText(path, c.Name, "must be at most %d characters, because it is the value of a label", validation.LabelValueMaxLength)
		}
	case len(c.Name) > maxObjectName || !labelForm.MatchString(c.Name):
		c.InvalidText(path, c.Name,
			`must be at most 55 lowercase letters, digits and "-", begin with a letter and not end with "-": the operator derives the names of other objects from this name`)
	}
}

// distributionOne checks that the spec sets either the name or the image of the distribution (FR-002).
func distributionOne(c *checks) {
	d, path := c.Spec.Distribution, spec("distribution")
	switch {
	case d.Name == "" && d.Image == "":
		c.Required(path, "set either name (a known distribution, for example starter) or image")
	case d.Name != "" && d.Image != "":
		c.Forbidden(path, `name %q and image %q are mutually exclusive: remove one of them`, d.Name, d.Image)
	}
}

func distributionImage(c *checks) {
	if image := c.Spec.Distribution.Image; image != "" {
		c.Add(Image(spec("distribution", "image"), image)...)
	}
}

func distributionImageUpdates(c *checks) {
	d, path := c.Spec.Distribution, spec("distribution", "imageUpdates")
	intent.OneOf(&c.Errors, path, d.ImageUpdates, v1alpha2.ImageUpdatesStay, v1alpha2.ImageUpdatesFollow)
	if d.ImageUpdates == v1alpha2.ImageUpdatesFollow && strings.Contains(d.Image, "@") {
		c.Forbidden(path, `Follow requires an image without a digest, but %q has a digest and always refers to the same image: `+
			`remove the digest, or remove imageUpdates`, d.Image)
	}
}

// distributionBaseProviders checks that a spec that drops providers of the base configuration has its own providers and
// no overrideConfig.
func distributionBaseProviders(c *checks) {
	s, path := &c.Spec, spec("distribution", "baseProviders")
	intent.OneOf(&c.Errors, path, s.Distribution.BaseProviders, v1alpha2.BaseProvidersAll, v1alpha2.BaseProvidersRequired)
	switch {
	case s.Distribution.BaseProviders != v1alpha2.BaseProvidersRequired:
	case s.OverrideConfig != nil:
		c.Forbidden(path, `cannot be combined with overrideConfig, which sets the complete configuration (ConfigMap %q): remove baseProviders or overrideConfig`,
			s.OverrideConfig.ConfigMapName)
	case s.Providers == nil && s.ExternalProviders == nil:
		c.Forbidden(path, `"Required" keeps only your own providers and the providers that they need, but the spec has no providers: `+
			`add a provider to spec.providers or spec.externalProviders, or remove baseProviders`)
	}
}

func distributionVersion(c *checks) {
	d, path := c.Spec.Distribution, spec("distribution", "version")
	switch {
	case d.Version == "":
	case d.Name == "":
		c.Forbidden(path,
			`%q selects the release of a named distribution: set name instead of image, or put the version in the tag of the image`, d.Version)
	case !release.IsVersion(d.Version):
		c.InvalidText(path, d.Version, `is not a server release: write a release such as 0.7 or 0.7.3`)
	}
}
