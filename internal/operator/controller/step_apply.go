package controller

import (
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/apply"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/refusal"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/rollout"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/images"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/report"
)

// applied is the result of applying the desired objects.
type applied struct {
	objects []apply.Applied
	// deployment is the Deployment after it was applied. Nil means that it was not applied.
	deployment *appsv1.Deployment
	// rejections lists the children that the API server rejected when the operator applied them after the Deployment.
	rejections []rejection
}

// deployed reports whether the Deployment is among the applied objects.
func (a *applied) deployed() bool { return a.deployment != nil }

// apply writes the objects that differ from their desired state. Objects that were applied before a failure are kept,
// and the next attempt does not write them again. If the API server rejects an object that is applied after the
// Deployment, apply continues, and reportRejections returns the error in a later step.
func (r *Reconciler) apply(
	ctx context.Context, stack *stack, workload *workload, image *images.Image, own *owned, report *report.Report,
) (applied, error) {
	var done applied
	var err error
	if done.objects, err = r.applyVolume(ctx, ownerOf(stack), own); err != nil {
		return done, err
	}
	if err := r.transferReplicas(ctx, stack, workload, own); err != nil {
		return done, err
	}
	if err := r.reclaimTemplate(ctx, own); err != nil {
		return done, err
	}
	if err := r.applyPods(ctx, stack, own, &done); err != nil {
		return done, err
	}
	r.applyDependents(ctx, stack, own, &done)
	for _, one := range done.objects {
		if one.Outcome == apply.Adopted {
			report.Normal(v1alpha2.EventAdopted, fmt.Sprintf("Adopted %s %q, which had no controller", one.Kind.Kind,
				one.Object.GetName()))
		}
		if one.Kind.Kind != kindDeployment {
			continue
		}
		deployment, err := typedDeployment(one.Object, workload.Deployment)
		if err != nil {
			return done, err
		}
		done.deployment = deployment
		if one.Outcome != apply.Unchanged {
			runs := render.ServerImage(stack, &deployment.Spec.Template.Spec)
			report.Normal(v1alpha2.EventDeploymentUpdated,
				fmt.Sprintf("Applied Deployment %q with image %q", deployment.Name, runs))
		}
	}
	conclude(stack, image.Newer, own, &done, report)
	return done, nil
}

// applyPods applies the objects that the pods need to start, their NetworkPolicy if it does not exist yet, and then the
// Deployment. It does not apply the Deployment if one of these objects is rejected, because the pods would not start,
// or would serve clients that must not connect. The running pods and their Service then do not change.
func (r *Reconciler) applyPods(ctx context.Context, stack *stack, own *owned, done *applied) error {
	needed := slices.DeleteFunc(slices.Clone(own.desired[:own.deployment()]), func(desired apply.Desired) bool {
		isApplied := desired.Wanted.GetKind() == kindVolumeClaim && desired.Live != nil // applyVolume applies it
		return isApplied || comesLater(desired)
	})
	rejected := r.applyEach(ctx, stack, needed, done)
	if len(rejected) > 0 {
		return rejected[0].err
	}
	if err := own.recordApplied(done.objects); err != nil {
		return err
	}
	deployment := own.desired[own.deployment()]
	objects, err := r.applier.Set(ctx, ownerOf(stack), []apply.Desired{deployment})
	done.objects = append(done.objects, objects...)
	if err != nil {
		return refusal.Explain(err, stack, deployment.Wanted)
	}
	return nil
}

// applyDependents applies the objects that refer to the pods. A rejection of one object does not affect the others. For
// example, a quota for Services must not prevent the creation of a NetworkPolicy.
func (r *Reconciler) applyDependents(ctx context.Context, stack *stack, own *owned, done *applied) {
	var dependents []apply.Desired
	for i, desired := range own.desired {
		if i > own.deployment() || comesLater(desired) {
			dependents = append(dependents, desired)
		}
	}
	done.rejections = append(done.rejections, r.applyEach(ctx, stack, dependents, done)...)
}

// applyEach applies objects whose order does not matter, and returns the rejected ones.
func (r *Reconciler) applyEach(
	ctx context.Context, stack *stack, desired []apply.Desired, done *applied,
) (rejected []rejection) {
	objects, errs := r.applier.Each(ctx, ownerOf(stack), desired)
	for i, err := range errs {
		if err != nil {
			rejected = append(rejected, rejection{childOf(desired[i]), refusal.Explain(err, stack, desired[i].Wanted)})
			continue
		}
		done.objects = append(done.objects, objects[i])
	}
	return rejected
}

// comesLater reports whether an object is an existing NetworkPolicy. The running pods serve on the port in the policy,
// so the policy changes after the Deployment.
func comesLater(desired apply.Desired) bool {
	return desired.Wanted.GetKind() == kindNetworkPolicy && desired.Live != nil
}

func childOf(desired apply.Desired) apply.Child {
	return apply.Child{Kind: desired.Wanted.GroupVersionKind(), Name: desired.Wanted.GetName()}
}

// reclaimTemplate takes over the template from the client that rolled it back, before the operator applies the rendered
// template again. Otherwise, parts of the older revision (a port, a variable, a volume) would remain permanently.
func (r *Reconciler) reclaimTemplate(ctx context.Context, own *owned) error {
	if own.decision.Outcome != rollout.Changed && own.decision.Outcome != rollout.Unchanged {
		return nil
	}
	desired := &own.desired[own.deployment()]
	var err error
	*desired, err = r.applier.Reclaim(ctx, *desired, []any{"spec", "template"},
		[]any{"metadata", "annotations", names.AnnotationInputs})
	return err
}

// transferReplicas transfers the ownership of the number of replicas to another field manager before an autoscaler sets
// the number. Without the transfer, the next apply, which leaves out the field, would reset the number to 1.
// transferReplicas writes nothing if the operator does not own the field.
func (r *Reconciler) transferReplicas(ctx context.Context, stack *stack, workload *workload, own *owned) error {
	if own.decision.Deployment.Spec.Replicas != nil {
		return nil
	}
	desired := own.desired[own.deployment()]
	live, err := typedDeployment(desired.Live, workload.Deployment)
	if err != nil || live == nil {
		return err
	}
	least := render.LeastAutoscaled(stack)
	if live.Spec.Replicas != nil {
		least = max(least, *live.Spec.Replicas)
	}
	return r.applier.Transfer(ctx, desired, names.TransferManager,
		appsv1ac.Deployment(live.Name,
			live.Namespace).WithUID(live.UID).WithSpec(appsv1ac.DeploymentSpec().WithReplicas(least)),
		"spec", "replicas")
}

// conclude adds the conditions that depend on the applied objects.
func conclude(stack *stack, newerImage string, own *owned, done *applied, report *report.Report) {
	message := "Every object is applied"
	if newerImage != "" {
		message += fmt.Sprintf("; this release of the operator starts new stacks with image %q; to use this image, set spec.distribution.version to the release of the image",
			newerImage)
	}
	if left := own.decision.Record.Autoscaled; left.Count > 0 {
		message += fmt.Sprintf("; until you change spec.workload.replicas from %d, the Deployment keeps the %s that the "+
			"autoscaler set", left.Spec, status.Count(int(left.Count), "replica"))
	}
	report.MarkTrue(v1alpha2.ConditionDeploymentUpdated, v1alpha2.ReasonDeploymentUpdateSucceeded, message)
	reportDecision(stack, own.decision, report)
	if trouble := own.volumeTrouble; trouble != nil {
		report.MarkFalse(trouble.Condition, trouble.Reason, trouble.Message)
		return
	}
	for _, one := range done.objects {
		if one.Kind.Kind == kindVolumeClaim {
			report.Conditions = append(report.Conditions, storageCondition(one.Object))
		}
	}
}
