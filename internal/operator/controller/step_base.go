package controller

import (
	"context"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/facts"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
)

// baseConfig returns the base configuration. It returns nil if the stack needs no base, or if no source has one. In the
// second case, the plan reports the missing base.
func (r *Reconciler) baseConfig(
	ctx context.Context, stack *stack, image *resolvedImage, labels *imageLabels, contents resolve.Contents,
	workload *workload,
) (*plan.Base, error) {
	if labels.unread != nil {
		return nil, labels.unread
	}
	return plan.BaseSources{
		Object: stack, Running: workload, ConfigMaps: contents, Label: labels.config, Digest: labels.digest,
		Image: facts.Image{Distribution: labels.distribution, From: image.From},
		Kept: func(name string) ([]byte, error) {
			return r.configMaps.KeptBase(ctx, keyOf(stack), stack.UID, name)
		},
	}.Base()
}
