package controller

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/apply"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/quantity"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/refusal"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/rollout"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/volume"
)

// These are the paths of the requested values in a claim.
var (
	sizePath  = []string{"spec", "resources", "requests", string(corev1.ResourceStorage)}
	classPath = []string{"spec", "storageClassName"}
	modesPath = []string{"spec", "accessModes"}
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
	claim, wanted, live, err := o.volumeClaim()
	if err != nil || live == nil {
		return err
	}
	if refused := volume.Conflicts(stack, live); len(refused) > 0 {
		o.troubled(keptForGood(refused[0]))
	}
	if err := keepClass(claim, live); err != nil {
		return err
	}
	if err := o.keepModes(claim, live, &made.Rendered); err != nil {
		return err
	}
	return keepSize(stack, claim, wanted, live)
}

// keepSize keeps the claim's request unless the size in the spec differs from the request and exceeds the capacity of
// the volume. The volume can be larger than the request if a user created the volume, or if the provisioner rounds up.
// The request shrinks only to revert an expansion that did not happen.
func keepSize(stack *stack, claim *apply.Desired, wanted resource.Quantity, live *corev1.PersistentVolumeClaim) error {
	requested, has := requestOf(live), live.Status.Capacity[corev1.ResourceStorage]
	larger := wanted.Cmp(requested)
	if stack.Spec.Workload.Storage.Size != nil && larger != 0 && wanted.Cmp(has) > 0 && (larger > 0 || !has.IsZero()) {
		return nil
	}
	return unstructured.SetNestedField(claim.Wanted.Object, requested.String(), sizePath...)
}

// keepClass keeps the storage class, which cannot change after the volume is created.
func keepClass(claim *apply.Desired, live *corev1.PersistentVolumeClaim) error {
	_, asked, _ := unstructured.NestedString(claim.Wanted.Object, classPath...)
	has := live.Spec.StorageClassName
	switch {
	case !asked || has == nil && live.Spec.VolumeName == "":
		return nil
	case has == nil:
		unstructured.RemoveNestedField(claim.Wanted.Object, classPath...)
		return nil
	default:
		return unstructured.SetNestedField(claim.Wanted.Object, *has, classPath...)
	}
}

// keepModes keeps the access modes, which cannot change, and the update strategy that depends on them.
func (o *owned) keepModes(claim *apply.Desired, live *corev1.PersistentVolumeClaim, rendered *rollout.Rendered) error {
	modes, _, _ := unstructured.NestedStringSlice(claim.Wanted.Object, modesPath...)
	has := make([]string, 0, len(live.Spec.AccessModes))
	for _, mode := range live.Spec.AccessModes {
		has = append(has, string(mode))
	}
	if slices.Equal(slices.Sorted(slices.Values(modes)), slices.Sorted(slices.Values(has))) {
		return nil
	}
	if err := unstructured.SetNestedStringSlice(claim.Wanted.Object, has, modesPath...); err != nil {
		return err
	}
	rendered.Deployment = render.WithAccessModes(rendered.Deployment, live.Spec.AccessModes)
	return o.setDeployment(rendered.Deployment)
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
	has := requestOf(live)
	if wanted.Cmp(has) != 0 && refusal.Rejected(err) {
		own.troubled(notGrown(live, wanted, err))
		if err := unstructured.SetNestedField(claim.Wanted.Object, has.String(), sizePath...); err != nil {
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
	has := requestOf(live)
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
	text, _, err := unstructured.NestedString(claim.Wanted.Object, sizePath...)
	if err == nil {
		wanted, err = quantity.Parse(text)
	}
	if err == nil {
		live, err = typed[corev1.PersistentVolumeClaim](claim.Live)
	}
	if err != nil {
		return nil, wanted, nil, fmt.Errorf("read the size of PersistentVolumeClaim %q: %w", claim.Wanted.GetName(), err)
	}
	return claim, wanted, live, nil
}

// sizeOf returns the size of the volume, or the requested size while there is no volume.
func sizeOf(claim *corev1.PersistentVolumeClaim) resource.Quantity {
	if capacity, ok := claim.Status.Capacity[corev1.ResourceStorage]; ok {
		return capacity
	}
	return requestOf(claim)
}

// requestOf returns the requested size of the claim.
func requestOf(claim *corev1.PersistentVolumeClaim) resource.Quantity {
	return claim.Spec.Resources.Requests[corev1.ResourceStorage]
}

// storageCondition returns the condition for the state of the volume claim.
func storageCondition(object client.Object) metav1.Condition {
	condition := metav1.Condition{
		Type: v1alpha2.ConditionStorageReady, Status: metav1.ConditionTrue,
		Reason: v1alpha2.ReasonStorageReady, Message: "Storage is ready",
	}
	claim, err := typed[corev1.PersistentVolumeClaim](object)
	if err != nil {
		condition.Message = fmt.Sprintf("PersistentVolumeClaim %q cannot be read: %v", object.GetName(), err)
		return condition
	}
	asked := requestOf(claim)
	switch has := sizeOf(claim); {
	case claim.Status.Phase == corev1.ClaimLost:
		condition.Status, condition.Reason = metav1.ConditionFalse, v1alpha2.ReasonStorageLost
		condition.Message = fmt.Sprintf("The volume of PersistentVolumeClaim %q no longer exists; restore the volume "+
			"from a backup, or delete the PersistentVolumeClaim to get a new one with an empty volume", claim.Name)
	case claim.Status.Phase != corev1.ClaimBound: // most provisioners wait for the first pod
		condition.Message = "Storage is waiting for its first pod"
	case has.Cmp(asked) < 0:
		condition.Message = fmt.Sprintf("Storage is ready and is growing from %s to %s", has.String(), asked.String())
	}
	return condition
}
