package controller

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/apply"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/refusal"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/volume"
)

// checkVolume returns the failure for a volume that does not match the spec, or nil.
func checkVolume(trouble *status.Failure) error {
	if trouble == nil {
		return nil
	}
	return trouble
}

// keepVolume keeps the current values of the volume claim where they cannot change to the values in the spec. The other
// parts of the change take effect. The volume step reports the difference at the end.
func (o *owned) keepVolume(stack *stack, made *plan.Plan) error {
	claim, _, live, err := o.volumeClaim()
	if err != nil || live == nil {
		return err
	}
	if refused := volume.Conflicts(stack, live); len(refused) > 0 {
		o.troubled(keptForGood(refused[0]))
	}
	keptModes, err := volume.Keep(stack, claim.Wanted, live)
	if err != nil || !keptModes {
		return err
	}
	made.Rendered.Deployment = render.WithAccessModes(made.Rendered.Deployment, live.Spec.AccessModes)
	return o.setDeployment(made.Rendered.Deployment)
}

// keptForGood returns the failure for a value that the claim cannot have.
func keptForGood(refused *field.Error) *status.Failure {
	failure := &status.Failure{
		Condition: v1alpha2.ConditionStorageReady, Reason: v1alpha2.ReasonStorageChangeRefused, Retry: status.OnObjectChange,
		Message: intent.Message(refused),
	}
	if strings.HasSuffix(refused.Field, ".size") {
		failure.Reason = v1alpha2.ReasonStorageShrinkRefused
	}
	return failure
}

// troubled records the failure for a volume that does not match the spec. It keeps the first failure.
func (o *owned) troubled(failure *status.Failure) {
	if o.volumeTrouble == nil {
		o.volumeTrouble = failure
	}
}

// applyVolume applies an existing volume claim before all other objects. A rejection does not block the other objects,
// because the pods can mount the unchanged claim.
func (r *Reconciler) applyVolume(ctx context.Context, owner apply.Owner, own *owned) ([]apply.Applied, error) {
	claim, wanted, live, err := own.volumeClaim()
	if err != nil || live == nil {
		return nil, err
	}
	applied, err := r.applier.Set(ctx, owner, []apply.Desired{*claim})
	has := volume.Requested(live)
	if wanted.Cmp(has) != 0 && refusal.Rejected(err) {
		own.troubled(notGrown(live, wanted, err))
		if err := volume.Request(claim.Wanted, has); err != nil {
			return applied, err
		}
		applied, err = r.applier.Set(ctx, owner, []apply.Desired{*claim})
	}
	if refusal.Rejected(err) {
		own.troubled(&status.Failure{
			Condition: v1alpha2.ConditionStorageReady, Reason: v1alpha2.ReasonStorageChangeRefused, Retry: status.Backoff,
			Err:     err,
			Message: fmt.Sprintf("The API server rejected the change to PersistentVolumeClaim %q: %s. All other objects are applied; correct spec.workload.storage, or ask an administrator to allow the change", live.Name, refusal.Answer(err)),
		})
		applied, err = []apply.Applied{{Kind: claim.Wanted.GroupVersionKind(), Object: claim.Live, Outcome: apply.Unchanged}},
			nil
	}
	return applied, err
}

func notGrown(live *corev1.PersistentVolumeClaim, wanted resource.Quantity, err error) *status.Failure {
	has := volume.Requested(live)
	return &status.Failure{
		Condition: v1alpha2.ConditionStorageReady, Reason: v1alpha2.ReasonStorageResizeRefused, Retry: status.Backoff,
		Err: err,
		Message: fmt.Sprintf("PersistentVolumeClaim %q remains at %s and cannot grow to %s: %s. The pods keep their volume; "+
			"ask an administrator to raise the quota or to set allowVolumeExpansion: true in the StorageClass, "+
			"or restore the earlier value of spec.workload.storage.size",
			live.Name, has.String(), wanted.String(), refusal.Answer(err)),
	}
}

// volumeClaim returns the desired claim for the stack's data, its requested size and the live claim. Both claims are
// nil if there is no live claim.
func (o *owned) volumeClaim() (claim *apply.Desired, wanted resource.Quantity, live *corev1.PersistentVolumeClaim,
	err error,
) {
	i := slices.IndexFunc(o.desired, func(d apply.Desired) bool { return d.Wanted.GetKind() == kindVolumeClaim })
	if i < 0 || o.desired[i].Live == nil {
		return nil, wanted, nil, nil
	}
	claim = &o.desired[i]
	if wanted, err = volume.Size(claim.Wanted); err == nil {
		live, err = typed[corev1.PersistentVolumeClaim](claim.Live)
	}
	if err != nil {
		return nil, wanted, nil, fmt.Errorf("read the size of PersistentVolumeClaim %q: %w", claim.Wanted.GetName(), err)
	}
	return claim, wanted, live, nil
}

// storageCondition returns the condition for the state of the volume claim.
func storageCondition(object client.Object) metav1.Condition {
	claim, err := typed[corev1.PersistentVolumeClaim](object)
	if err == nil {
		return volume.Condition(claim)
	}
	return metav1.Condition{
		Type: v1alpha2.ConditionStorageReady, Status: metav1.ConditionTrue, Reason: v1alpha2.ReasonStorageReady,
		Message: fmt.Sprintf("PersistentVolumeClaim %q cannot be read: %v", object.GetName(), err),
	}
}
