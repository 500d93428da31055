package controller

import (
	"context"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/images"
)

// image determines the server's image and release.
func (r *Reconciler) image(ctx context.Context, stack *stack, workload *workload) (images.Image, error) {
	config, err := r.settings.Config(ctx)
	if err != nil {
		return images.Image{}, err
	}
	return images.Resolve(stack, workload, config, r.relatedImages)
}

// releaseOfVolume returns the server release that wrote the data on the stack's volume claim, or an empty string.
func (r *Reconciler) releaseOfVolume(ctx context.Context, stack *stack) string {
	claim, err := r.cachedClaim(ctx, stack)
	if err != nil || claim == nil || claim.Labels[names.LabelInstance] != stack.Name {
		return ""
	}
	return claim.Annotations[names.AnnotationRelease]
}
