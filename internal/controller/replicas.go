package controller

import (
	"context"
	"slices"

	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/apply"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/render"
)

// handOverReplicas gives the number of replicas to another field manager before
// it is left to an autoscaler: what its only owner leaves out is reset to 1. The
// autoscaler takes it from there. Nothing is written when we do not own it.
func (r *Reconciler) handOverReplicas(ctx context.Context, s *state) error {
	if s.decision.Deployment.Spec.Replicas != nil {
		return nil
	}
	i := slices.IndexFunc(s.claims, func(c apply.Desired) bool { return isDeployment(c.Wanted) })
	live, err := s.typed(s.claims[i].Live)
	if err != nil || live == nil {
		return err
	}
	least := render.LeastAutoscaled(s.object)
	if live.Spec.Replicas != nil {
		least = max(least, *live.Spec.Replicas)
	}
	return r.applier.Transfer(ctx, s.claims[i], names.TransferManager,
		appsv1ac.Deployment(live.Name, live.Namespace).WithUID(live.UID).WithSpec(appsv1ac.DeploymentSpec().WithReplicas(least)),
		"spec", "replicas")
}
