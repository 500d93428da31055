package facts

import (
	"cmp"
	"maps"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/operatorconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

// Image is the image of a stack.
type Image struct {
	Distribution distribution.Resolved
	From         v1alpha2.ImageSource
	// Catalog is the catalog image with which the stack was created. Newer is the image of a new stack, if it differs.
	// Both are empty if the spec sets an image.
	Catalog, Newer string
}

// Overrides holds the images that replace images in the catalog.
type Overrides struct {
	// All holds all overrides. The operator's ConfigMap takes precedence over RELATED_IMAGE variables.
	All distribution.Overrides
	// configured holds the overrides in the ConfigMap.
	configured distribution.Overrides
	// Unknown reports whether the overrides in the ConfigMap are unknown.
	Unknown bool
	// RelatedUnknown reports whether the RELATED_IMAGE variables are unknown.
	RelatedUnknown bool
}

// NewOverrides returns the overrides in the RELATED_IMAGE variables and in the operator's ConfigMap. Nil variables are
// unknown.
func NewOverrides(related distribution.Overrides, config operatorconfig.Config) Overrides {
	all := distribution.Overrides{}
	maps.Copy(all, related)
	maps.Copy(all, config.Images)
	return Overrides{
		All: all, configured: config.Images, Unknown: config.Unknown(operatorconfig.KeyImageOverrides),
		RelatedUnknown: related == nil,
	}
}

// image returns the override for a distribution, and its source.
func (o *Overrides) image(asked v1alpha2.DistributionSpec, running *Running) (string, v1alpha2.ImageSource, bool) {
	if image, ok := o.configured.Image(asked.Name, asked.Version); ok {
		return image, v1alpha2.ImageFromOperatorConfig, true
	}
	image, from, ok := running.image(asked)
	if ok && (o.Unknown || o.RelatedUnknown && from == v1alpha2.ImageFromRelatedImage) {
		return image, from, true
	}
	image, ok = o.All.Image(asked.Name, asked.Version)
	return image, v1alpha2.ImageFromRelatedImage, ok
}

// Image determines the server's image and release. While the name and version in its spec remain the same, a running
// stack keeps the image with which it was created. Therefore, an operator upgrade never changes the server of a running
// stack. An override, while it is set, replaces the image.
func (r *Running) Image(asked v1alpha2.DistributionSpec, overrides Overrides) (Image, error) {
	found, images := Image{From: v1alpha2.ImageFromCatalogue}, maps.Clone(overrides.All)
	if asked.Name == "" {
		found.From = v1alpha2.ImageFromSpec
	} else {
		current, _ := distribution.Resolve(asked.Name, asked.Image, asked.Version, nil)
		created, recorded := r.createdWith(asked)
		found.Catalog = cmp.Or(created, current.Image)
		if found.Catalog != current.Image {
			images[asked.Name] = found.Catalog
			if recorded {
				found.Newer = current.Image
			}
		}
		if image, from, ok := overrides.image(asked, r); ok {
			images[asked.Name], found.From = image, from
		}
	}
	var err error
	found.Distribution, err = distribution.Resolve(asked.Name, asked.Image, asked.Version, images)
	return found, err
}

// createdWith returns the catalog's image with which the stack was created, and reports whether the status or the
// record shows this image. If neither shows it, createdWith returns the image of the release that wrote the data on the
// stack's volume, or an empty string if this release is unknown.
func (r *Running) createdWith(asked v1alpha2.DistributionSpec) (image string, recorded bool) {
	if image = r.answeredImage(asked); image != "" {
		return image, true
	}
	if in := r.Status.ResolvedDistribution; in != nil && in.Name == asked.Name && in.Version == asked.Version {
		image = in.Catalogue()
	}
	if last := &r.Record.Distribution; image == "" && last.Name == asked.Name && last.Version == asked.Version {
		image = last.CatalogueImage
	}
	if image != "" {
		return image, true
	}
	if r.VolumeRelease != nil && asked.Version == "" {
		if written := r.VolumeRelease(); written != "" {
			older, _ := distribution.Resolve(asked.Name, "", written, nil)
			return older.Image, false
		}
	}
	return "", false
}

// answeredImage returns the catalog image for the release that runs in pods from a previous operator, according to the
// version in the status, or an empty string. The server reported this version to the previous operator or to this one.
// Pods from a previous operator run the image to which `latest` referred, and their data has the format of the release
// in that image. If the catalog does not contain the release, answeredImage returns the catalog's image of the same
// release line.
func (r *Running) answeredImage(asked v1alpha2.DistributionSpec) string {
	version := r.Status.Version
	if asked.Version != "" || version == nil || !r.ofAnotherProgram() {
		return ""
	}
	for _, release := range []string{version.LlamaStackServerVersion, release.LineOf(version.LlamaStackServerVersion)} {
		if found, err := distribution.Resolve(asked.Name, "", release, nil); release != "" && err == nil {
			return found.Image
		}
	}
	return ""
}

// ofAnotherProgram reports whether another program rendered the running pods. In this case, this operator has not
// reconciled the stack yet, or has not changed the pods.
func (r *Running) ofAnotherProgram() bool {
	if r.Record.Inputs == "" {
		return r.Status.ResolvedDistribution == nil
	}
	return r.Record.Template == ""
}

// image returns the image that was last rendered for the name and version in the spec, and its source. A running stack
// keeps this image while the overrides that can have set it are unknown.
func (r *Running) image(asked v1alpha2.DistributionSpec) (image string, from v1alpha2.ImageSource, ok bool) {
	last, in := r.Record.Distribution, r.Status.ResolvedDistribution
	image = last.Image
	if image == "" && in != nil && in.ImageFrom != "" {
		image, last.Name, last.Version = in.Image, in.Name, in.Version
	}
	switch {
	case image == "" || last.Name != asked.Name || last.Version != asked.Version:
		return "", "", false
	case in != nil && in.Image == image:
		return image, in.ImageFrom, true
	case image == last.CatalogueImage:
		return image, v1alpha2.ImageFromCatalogue, true
	default:
		return image, v1alpha2.ImageFromOperatorConfig, true
	}
}
