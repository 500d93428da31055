package controller

import (
	"context"
	"fmt"
	"slices"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/apply"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/status"
)

// handOverReplicas gives the number of replicas to another field manager before
// it is left to an autoscaler: what its only owner leaves out is reset to 1. The
// autoscaler takes it from there. Nothing is written when we do not own it.
func (r *Reconciler) handOverReplicas(ctx context.Context, s *state) error {
	i := slices.IndexFunc(s.claims, func(c apply.Claim) bool { return isDeployment(c.Wanted) })
	live, err := deploymentOf(s.claims[i].Live)
	if err != nil || live == nil || s.decision.Deployment.Spec.Replicas != nil {
		return err
	}
	least := render.LeastAutoscaled(s.object)
	if live.Spec.Replicas != nil {
		least = max(least, *live.Spec.Replicas)
	}
	return r.applier.HandOver(ctx, s.claims[i], names.HandoverManager,
		appsv1ac.Deployment(live.Name, live.Namespace).WithUID(live.UID).WithSpec(appsv1ac.DeploymentSpec().WithReplicas(least)),
		"spec", "replicas")
}

// watchAutoscaler notes why the autoscaler does not scale pods that serve. While
// they start it has nothing to go by.
func watchAutoscaler(s *state) error {
	available := meta.IsStatusConditionTrue(s.conditions, v1alpha2.ConditionAvailable)
	if !available || meta.FindStatusCondition(s.conditions, v1alpha2.ConditionDegraded) != nil {
		return nil
	}
	i := slices.IndexFunc(s.applied, func(a apply.Applied) bool { return a.Object.GetKind() == "HorizontalPodAutoscaler" })
	if i < 0 {
		return nil
	}
	autoscaler := &autoscalingv2.HorizontalPodAutoscaler{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(s.applied[i].Object.Object, autoscaler); err != nil {
		return fmt.Errorf("convert HorizontalPodAutoscaler: %w", err)
	}
	if trouble := status.AutoscalerTrouble(autoscaler); trouble != "" {
		s.holds(v1alpha2.ConditionDegraded, v1alpha2.ReasonAutoscalerInactive, trouble)
	}
	return nil
}
