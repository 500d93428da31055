package controller

import (
	"context"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/facts"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/rollout"
)

// baseConfig returns the base configuration from the first of these sources that has one: the ConfigMap in the spec,
// the labels of the image, the base of the running configuration, or the catalog. It returns nil if the stack needs no
// base, or if no source has one. In the second case, the plan reports the missing base.
func (r *Reconciler) baseConfig(
	ctx context.Context, stack *stack, image *resolvedImage, labels *imageLabels, contents resolve.Contents,
	running *rollout.Record,
) (*plan.Base, error) {
	if labels.unread != nil {
		return nil, labels.unread
	}
	if !plan.NeedsBase(&stack.Spec) {
		return nil, nil
	}
	if given := plan.ReadBase(stack, contents); given != nil {
		return given, nil
	}
	if labels.config != nil {
		return &plan.Base{Data: labels.config, Source: v1alpha2.ConfigSourceOCILabel}, nil
	}
	if labels.distribution.Base == nil {
		return nil, nil
	}
	base := &plan.Base{Data: labels.distribution.Base, Source: v1alpha2.ConfigSourceEmbedded}
	read := facts.Image{Distribution: labels.distribution, From: image.From}
	source, keeps := runningOf(stack, running).KeepsBase(stack.Spec.Distribution, &read, labels.digest)
	if !keeps || source != base.Source ||
		running.BaseConfigMap == plan.BaseConfigMapName(stack.Name, base.Data) {
		return base, nil // the name contains a hash of the data
	}
	kept, err := r.configMaps.KeptBase(ctx, keyOf(stack), stack.UID, running.BaseConfigMap)
	if err != nil {
		return nil, err
	}
	if kept != nil {
		base.Data = kept
	}
	return base, nil
}
