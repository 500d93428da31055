package controller

import (
	"cmp"
	"context"
	"errors"
	"maps"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operatorconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/rollout"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/release"
)

// resolvedImage is the result of resolving spec.distribution.
type resolvedImage struct {
	// config is the operator's configuration. All steps of a reconcile use this configuration.
	config operatorconfig.Config
	// overrides holds the images that replace images in the catalog.
	overrides    overrides
	distribution distribution.Resolved
	// catalog is the catalog image with which the stack was created. The field `newer` is the image of a new stack, if
	// it differs.
	catalog, newer string
	from           v1alpha2.ImageSource
}

// image determines the server's image and release. While the name and version in its spec remain the same, a running
// stack keeps the image with which it was created. Therefore, an operator upgrade never changes the server of a running
// stack. An override, while it is set, replaces the image.
func (r *Reconciler) image(ctx context.Context, stack *stack, running *rollout.Record) (resolvedImage, error) {
	config, _, err := r.config.get(ctx)
	if err != nil {
		return resolvedImage{}, err
	}
	found := resolvedImage{
		config: config, overrides: newOverrides(r.relatedImages, config),
		from: v1alpha2.ImageFromCatalogue,
	}
	asked, images := stack.Spec.Distribution, maps.Clone(found.overrides.all)
	if asked.Name == "" {
		found.from = v1alpha2.ImageFromSpec
	} else if r.setCatalog(ctx, stack, running, &found) {
		images[asked.Name] = found.catalog
	}
	if image, from, ok := found.overrides.image(stack, running); ok {
		images[asked.Name], found.from = image, from
	}
	found.distribution, err = distribution.Resolve(asked.Name, asked.Image, asked.Version, images)
	if err != nil {
		return found, unknownDistribution(err)
	}
	return found, nil
}

// setCatalog sets the catalog image, and reports whether it differs from the image of a new stack.
func (r *Reconciler) setCatalog(
	ctx context.Context, stack *stack, running *rollout.Record, found *resolvedImage,
) (differs bool) {
	asked := stack.Spec.Distribution
	current, _ := distribution.Resolve(asked.Name, asked.Image, asked.Version, nil)
	created, recorded := r.createdWith(ctx, stack, running)
	found.catalog = cmp.Or(created, current.Image)
	if recorded && created != current.Image {
		found.newer = current.Image
	}
	return found.catalog != current.Image
}

// createdWith returns the catalog's image with which the stack was created, and reports whether the status or the
// record shows this image. If neither shows it, createdWith returns the image of the release that wrote the data on the
// stack's volume, or an empty string if this release is unknown.
func (r *Reconciler) createdWith(
	ctx context.Context, stack *stack, running *rollout.Record,
) (image string, recorded bool) {
	if image, ok := answeredImage(stack, running); ok {
		return image, true
	}
	if image, ok := recordedImage(stack, running); ok {
		return image, true
	}
	asked := stack.Spec.Distribution
	if release, ok := r.releaseOfVolume(ctx, stack); ok && asked.Version == "" {
		if older, err := distribution.Resolve(asked.Name, "", release, nil); err == nil {
			return older.Image, false
		}
	}
	return "", false
}

func unknownDistribution(err error) error {
	reason := v1alpha2.ReasonInvalidSpec
	if _, ok := errors.AsType[*distribution.UnknownError](err); ok {
		reason = v1alpha2.ReasonUnknownDistribution
	}
	return invalid(reason, distribution.Path(err)+": "+err.Error())
}

// recordedImage returns the catalog's image that was chosen for this name and version when the stack was created. The
// image is from the status or, if the status does not contain it, from the Deployment.
func recordedImage(stack *stack, running *rollout.Record) (string, bool) {
	asked := stack.Spec.Distribution
	matches := func(known rollout.Distribution) bool {
		return known.CatalogueImage != "" && known.Name == asked.Name && known.Version == asked.Version
	}
	if in := stack.Status.ResolvedDistribution; in != nil {
		known := rollout.Distribution{Name: in.Name, Version: in.Version, CatalogueImage: in.Catalogue()}
		if matches(known) {
			return known.CatalogueImage, true
		}
	}
	if matches(running.Distribution) {
		return running.Distribution.CatalogueImage, true
	}
	return "", false
}

// answeredImage returns the catalog image for the release that runs in pods from a previous operator, according to
// the version in the status. The server reported this version to the previous operator or to this one. Pods from a
// previous operator run the image to which `latest` referred, and their data has the format of the release in that
// image. If the catalog does not contain the release, answeredImage returns the catalog's image of the same release
// line.
func answeredImage(stack *stack, running *rollout.Record) (string, bool) {
	asked, version := stack.Spec.Distribution, stack.Status.Version
	if asked.Name == "" || asked.Version != "" || version == nil || !ofAnotherProgram(stack, running) {
		return "", false
	}
	for _, release := range []string{version.LlamaStackServerVersion, release.LineOf(version.LlamaStackServerVersion)} {
		if found, err := distribution.Resolve(asked.Name, "", release, nil); release != "" && err == nil {
			return found.Image, true
		}
	}
	return "", false
}

// ofAnotherProgram reports whether another program rendered the running pods. In this case, this operator has not
// reconciled the stack yet, or has not changed the pods.
func ofAnotherProgram(stack *stack, running *rollout.Record) bool {
	if running.Inputs == "" {
		return stack.Status.ResolvedDistribution == nil
	}
	return running.Template == ""
}

// releaseOfVolume returns the server release that wrote the data on the stack's volume claim. It is for stacks without
// a record.
func (r *Reconciler) releaseOfVolume(ctx context.Context, stack *stack) (string, bool) {
	claim, err := r.cachedClaim(ctx, stack)
	if err != nil || claim == nil {
		return "", false
	}
	release := claim.Annotations[names.AnnotationRelease]
	return release, release != "" && claim.Labels[names.LabelInstance] == stack.Name
}

// overrides holds the images that replace images in the catalog.
type overrides struct {
	// all holds all overrides. The operator's ConfigMap takes precedence over RELATED_IMAGE variables.
	all distribution.Overrides
	// configured holds the overrides in the ConfigMap.
	configured distribution.Overrides
	// unknown reports whether the overrides in the ConfigMap have been invalid since the operator started.
	unknown bool
}

func newOverrides(relatedImages distribution.Overrides, config operatorconfig.Config) overrides {
	all := distribution.Overrides{}
	maps.Copy(all, relatedImages)
	maps.Copy(all, config.Images)
	return overrides{all, config.Images, config.Unknown(operatorconfig.KeyImageOverrides)}
}

// image returns the override for the stack's distribution, and its source.
func (o overrides) image(stack *stack, running *rollout.Record) (image string, from v1alpha2.ImageSource, ok bool) {
	asked := stack.Spec.Distribution
	if image, ok := o.configured.Image(asked.Name, asked.Version); ok {
		return image, v1alpha2.ImageFromOperatorConfig, true
	}
	if o.unknown {
		if image, from, ok := runningImage(stack, running); ok {
			return image, from, true
		}
	}
	image, ok = o.all.Image(asked.Name, asked.Version)
	return image, v1alpha2.ImageFromRelatedImage, ok
}

// runningImage returns the image that was last rendered for the name and version in the spec, and its source. A running
// stack keeps this image while the overrides in the ConfigMap are unknown.
func runningImage(stack *stack, running *rollout.Record) (image string, from v1alpha2.ImageSource, ok bool) {
	asked, last, in := stack.Spec.Distribution, running.Distribution, stack.Status.ResolvedDistribution
	image = cmp.Or(last.Image, running.Image)
	if image == "" || last.Name != asked.Name || last.Version != asked.Version {
		return "", "", false
	}
	switch {
	case in != nil && in.Image == image:
		return image, in.ImageFrom, true
	case image == last.CatalogueImage:
		return image, v1alpha2.ImageFromCatalogue, true
	default:
		return image, v1alpha2.ImageFromOperatorConfig, true
	}
}
