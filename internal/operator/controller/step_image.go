package controller

import (
	"context"
	"errors"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/facts"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/operatorconfig"
)

// resolvedImage is the result of resolving spec.distribution.
type resolvedImage struct {
	facts.Image
	// config is the operator's configuration. All steps of a reconcile use this configuration.
	config operatorconfig.Config
	// overrides holds the images that replace images in the catalog.
	overrides facts.Overrides
}

// image determines the server's image and release.
func (r *Reconciler) image(ctx context.Context, stack *stack, workload *workload) (resolvedImage, error) {
	config, err := r.settings.Config(ctx)
	if err != nil {
		return resolvedImage{}, err
	}
	found := resolvedImage{config: config, overrides: facts.NewOverrides(r.relatedImages, config)}
	if found.Image, err = workload.Image(stack.Spec.Distribution, found.overrides); err != nil {
		return found, unknownDistribution(err)
	}
	return found, nil
}

func unknownDistribution(err error) error {
	reason := v1alpha2.ReasonInvalidSpec
	if _, ok := errors.AsType[*distribution.UnknownError](err); ok {
		reason = v1alpha2.ReasonUnknownDistribution
	}
	return invalid(reason, distribution.Path(err)+": "+err.Error())
}

// releaseOfVolume returns the server release that wrote the data on the stack's volume claim, or an empty string.
func (r *Reconciler) releaseOfVolume(ctx context.Context, stack *stack) string {
	claim, err := r.cachedClaim(ctx, stack)
	if err != nil || claim == nil || claim.Labels[names.LabelInstance] != stack.Name {
		return ""
	}
	return claim.Annotations[names.AnnotationRelease]
}
