package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/apply"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/rollout"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/planning"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/report"
)

// owned holds the objects to apply. Each object belongs to the stack or does not exist yet.
type owned struct {
	// desired contains the objects in the order in which they are applied.
	desired []apply.Desired
	// decision determines how the Deployment changes.
	decision rollout.Decision
	// volumeTrouble is the failure for a volume that does not match the spec. Nil means that it matches.
	volumeTrouble *status.Failure
}

// checkOwnership checks that every child belongs to the stack, and decides from the record how the Deployment changes.
func (r *Reconciler) checkOwnership(
	ctx context.Context, stack *stack, workload *workload, made *planning.Planned,
) (owned, error) {
	left, err := r.leftMounted(ctx, stack, workload, made.Plan)
	if err != nil {
		return owned{}, err
	}
	desired, err := r.desired(ctx, stack, made, left, workload.Record.Applied)
	if err != nil {
		return owned{}, notOurs(err)
	}
	found := owned{desired: desired}
	if err := found.keepVolume(stack, made.Plan); err != nil {
		return found, err
	}
	i := found.deployment()
	live, err := typedDeployment(found.desired[i].Live, workload.Deployment)
	if err != nil {
		return found, err
	}
	if found.decision, err = r.decide(ctx, stack, live, workload.ReplicaSets, made.Plan.Rendered); err != nil {
		return found, err
	}
	if equality.Semantic.DeepEqual(found.decision.Deployment, made.Plan.Rendered.Deployment) {
		return found, nil // the desired objects already contain this Deployment
	}
	return found, found.setDeployment(found.decision.Deployment)
}

// desired returns the planned objects, including the Secret with derived values, each with its live state. It returns
// none of the objects in left. It does not read the ConfigMaps that have the recorded digests.
func (r *Reconciler) desired(
	ctx context.Context, stack *stack, made *planning.Planned, left []apply.Child, digests map[string]string,
) ([]apply.Desired, error) {
	wanted, err := unstructuredObjects(made.Plan.WithStorageSecret(made.Derived))
	if err != nil {
		return nil, err
	}
	wanted = slices.DeleteFunc(wanted, func(object *unstructured.Unstructured) bool {
		return slices.Contains(left, apply.Child{Kind: object.GroupVersionKind(), Name: object.GetName()})
	})
	if err := r.applier.Recall(ctx, ownerOf(stack), configMapsIn(wanted), digests); err != nil {
		return nil, err
	}
	return r.applier.CheckOwnership(ctx, ownerOf(stack), wanted)
}

// configMapsIn returns the ConfigMaps among the objects. The record has no digests of Secrets, because a digest
// shows whether a guessed value is correct.
func configMapsIn(wanted []*unstructured.Unstructured) []*unstructured.Unstructured {
	return slices.DeleteFunc(slices.Clone(wanted), func(object *unstructured.Unstructured) bool {
		return object.GetKind() != kindConfigMap
	})
}

// recordApplied adds the applied ConfigMaps to the record on the Deployment, if the Deployment is written anyway.
func (o *owned) recordApplied(done []apply.Applied) error {
	if o.decision.Outcome != rollout.Changed {
		return nil
	}
	record := o.decision.Record
	record.Applied = map[string]string{}
	for _, one := range done {
		for _, desired := range o.desired {
			if one.Kind.Kind == kindConfigMap && childOf(desired) == (apply.Child{Kind: one.Kind, Name: one.Object.GetName()}) {
				record.Applied[one.Object.GetName()] = apply.Digest(desired.Wanted, one.Object)
			}
		}
	}
	value, err := record.Encode()
	if err != nil {
		return err
	}
	deployment := o.desired[o.deployment()].Wanted
	return unstructured.SetNestedField(deployment.Object, value, "metadata", "annotations", names.AnnotationRendered)
}

// leftMounted returns the existing ConfigMaps that the pods of an operator for v1alpha1 mount, as long as the
// Deployment keeps the template of that operator. Any write to them would replace the pods after a return to that
// operator, which hashes the version of a ConfigMap into the template.
func (r *Reconciler) leftMounted(
	ctx context.Context, stack *stack, workload *workload, made *plan.Plan,
) ([]apply.Child, error) {
	if workload.Deployment == nil || workload.Record.Template != "" {
		return nil, nil
	}
	decision, err := r.decide(ctx, stack, workload.Deployment, workload.ReplicaSets, made.Rendered)
	if err != nil || decision.Outcome != rollout.KeepTemplate {
		return nil, err
	}
	return slices.DeleteFunc(usedBy(&workload.Deployment.Spec.Template.Spec), func(child apply.Child) bool {
		object := &metav1.PartialObjectMetadata{}
		object.SetGroupVersionKind(child.Kind)
		return child.Kind.Kind != kindConfigMap || r.cache.Get(ctx, childKey(stack, child.Name), object) != nil
	}), nil
}

// unstructuredObjects converts the objects to unstructured objects for the applier.
func unstructuredObjects(rendered []render.Object) ([]*unstructured.Unstructured, error) {
	objects := make([]*unstructured.Unstructured, 0, len(rendered))
	for _, object := range rendered {
		converted, err := render.Unstructured(object)
		if err != nil {
			return nil, err
		}
		objects = append(objects, converted)
	}
	return objects, nil
}

// notOurs returns the failure for an object that belongs to another owner. It returns any other error unchanged.
func notOurs(err error) error {
	if _, conflict := errors.AsType[*apply.OwnershipConflict](err); !conflict {
		return err
	}
	return &status.Failure{
		Condition: v1alpha2.ConditionDeploymentUpdated, Reason: v1alpha2.ReasonOwnershipConflict,
		Message: err.Error(), Retry: status.Later, Err: err,
	}
}

// deployment returns the index of the Deployment in the desired objects.
func (o *owned) deployment() int {
	return slices.IndexFunc(o.desired, func(d apply.Desired) bool { return d.Wanted.GetKind() == kindDeployment })
}

// setDeployment replaces the desired Deployment.
func (o *owned) setDeployment(deployment *appsv1ac.DeploymentApplyConfiguration) error {
	desired := &o.desired[o.deployment()]
	var err error
	desired.Wanted, err = render.Unstructured(render.Object{
		GVK: desired.Wanted.GroupVersionKind(), Name: desired.Wanted.GetName(), Apply: deployment,
	})
	return err
}

// decide compares the rendered Deployment with the live one, which is nil if there is none.
func (r *Reconciler) decide(
	ctx context.Context, stack *stack, live *appsv1.Deployment, sets []appsv1.ReplicaSet, rendered rollout.Rendered,
) (rollout.Decision, error) {
	decision, err := rollout.Decide(live, sets, rendered)
	if err == nil && decision.NewerGeneration {
		if rendered.Newest, err = r.isNewest(ctx, stack); err == nil {
			decision, err = rollout.Decide(live, sets, rendered)
		}
	}
	if err != nil {
		return decision, fmt.Errorf("decide what to apply: %w", err)
	}
	if decision.Outcome == rollout.StaleCache {
		return decision, r.stale(decision.Message, live)
	}
	return decision, nil
}

// isNewest reports whether the cache contains the newest generation of the stack. If so, a record with a newer
// generation is damaged.
func (r *Reconciler) isNewest(ctx context.Context, stack *stack) (bool, error) {
	now := &v1alpha2.LlamaStackDistribution{}
	if err := r.direct.Get(ctx, keyOf(stack), now); err != nil {
		return false, fmt.Errorf("read the stack from the API server: %w", err)
	}
	return now.UID == stack.UID && now.Generation == stack.Generation, nil
}

// stalePatience is the time that the cache or the Deployment controller can lag behind before the status reports the
// delay.
const stalePatience = time.Minute

// stale returns the failure for a cache that contains objects from different times. The failure is quiet until
// stalePatience has passed since the last write to the Deployment, because a cache usually catches up. After that, the
// status reports the failure.
func (r *Reconciler) stale(message string, live *appsv1.Deployment) error {
	failure := &status.Failure{
		Condition: v1alpha2.ConditionDeploymentUpdated, Reason: v1alpha2.ReasonProgressing, Message: message,
		Retry: status.Quiet,
	}
	if r.now().Sub(lastWrite(live)) > stalePatience {
		failure.Retry, failure.Unknown, failure.Err = status.Backoff, true, errors.New(message)
	}
	return failure
}

// lastWrite returns the time of the last write to an object, according to its managed fields.
func lastWrite(object metav1.Object) time.Time {
	last := object.GetCreationTimestamp().Time
	for _, entry := range object.GetManagedFields() {
		if entry.Time != nil && entry.Time.After(last) {
			last = entry.Time.Time
		}
	}
	return last
}

// reportDecision adds conditions about a template that is kept although the rendered template differs from it.
func reportDecision(stack *stack, decision rollout.Decision, report *report.Report) {
	switch decision.Outcome {
	case rollout.KeepTemplate:
		report.MarkFalse(v1alpha2.ConditionAdopted, v1alpha2.ReasonRenderingDiffers, decision.Message)
	case rollout.RolledBack:
		report.MarkTrue(v1alpha2.ConditionDegraded, v1alpha2.ReasonRolledBack, decision.Message)
		was := meta.FindStatusCondition(stack.Status.Conditions, v1alpha2.ConditionDegraded)
		if was == nil || was.Reason != v1alpha2.ReasonRolledBack {
			report.Warning(v1alpha2.EventRolledBack, decision.Message)
		}
	case rollout.Changed, rollout.Unchanged, rollout.StaleCache:
	}
}
