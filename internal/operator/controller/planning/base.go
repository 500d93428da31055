package planning

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/facts"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/images"
)

// Base returns the base configuration. It returns nil if the stack needs no base, or if no source has one. In the
// second case, the plan reports the missing base.
func (p *Planner) Base(
	ctx context.Context, stack *stack, image *images.Image, labels *images.Labels, contents resolve.Contents,
	workload *workload,
) (*plan.Base, error) {
	if labels.Unread != nil {
		return nil, labels.Unread
	}
	return plan.BaseSources{
		Object: stack, Running: workload, ConfigMaps: contents, Label: labels.Config, Digest: labels.Digest,
		Image: facts.Image{Distribution: labels.Distribution, From: image.From},
		Kept: func(name string) ([]byte, error) {
			return p.ConfigMaps.KeptBase(ctx, client.ObjectKeyFromObject(stack), stack.UID, name)
		},
	}.Base()
}
