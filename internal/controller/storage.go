package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/apply"
	"github.com/llamastack/llama-stack-k8s-operator/internal/status"
)

// sizePath is where a claim says how much it asks for.
var sizePath = []string{"spec", "resources", "requests", string(corev1.ResourceStorage)}

// keepVolume compares what the spec asks for with what the volume has: less and
// other is refused before anything is written, and without a wish the size stays.
func keepVolume(s *state) error {
	claim, wanted, live, err := s.dataClaim()
	if err != nil || live == nil {
		return err
	}
	if err := keepKind(claim, live); err != nil {
		return err
	}
	has := sizeOf(live)
	switch {
	case wanted.Cmp(has) >= 0:
		return nil
	case s.object.Spec.Workload.Storage.Size == nil:
		return unstructured.SetNestedField(claim.Wanted.Object, has.String(), sizePath...)
	}
	return &status.Failure{
		Condition: v1alpha2.ConditionStorageReady, Reason: v1alpha2.ReasonStorageShrinkRefused, Retry: status.OnObjectChange,
		Message: fmt.Sprintf("spec.workload.storage.size: %s is less than the %s of PersistentVolumeClaim %q, and a volume does not shrink: "+
			"write %s or more", wanted.String(), has.String(), live.Name, has.String()),
	}
}

// keepKind refuses another class and other access modes, which the API server never
// changes.
func keepKind(claim *apply.Claim, live *corev1.PersistentVolumeClaim) error {
	failure := &status.Failure{
		Condition: v1alpha2.ConditionStorageReady, Reason: v1alpha2.ReasonStorageChangeRefused, Retry: status.OnObjectChange,
	}
	const advice = "; a volume keeps both for good: write it back, or move the data to a stack of another name"
	class, _, _ := unstructured.NestedString(claim.Wanted.Object, "spec", "storageClassName")
	modes, _, _ := unstructured.NestedStringSlice(claim.Wanted.Object, "spec", "accessModes")
	has := make([]string, 0, len(live.Spec.AccessModes))
	for _, mode := range live.Spec.AccessModes {
		has = append(has, string(mode))
	}
	switch of := live.Spec.StorageClassName; {
	case class != "" && of != nil && *of != class:
		failure.Message = fmt.Sprintf("spec.workload.storage.storageClassName: PersistentVolumeClaim %q is of class %q, not %q", live.Name, *of, class)
	case len(modes) > 0 && !slices.Equal(slices.Sorted(slices.Values(modes)), slices.Sorted(slices.Values(has))):
		failure.Message = fmt.Sprintf("spec.workload.storage.accessModes: PersistentVolumeClaim %q has the access modes %s, not %s",
			live.Name, strings.Join(has, ", "), strings.Join(modes, ", "))
	default:
		return nil
	}
	failure.Message += advice
	return failure
}

// grow asks for a larger volume before anything else is applied. A refusal holds
// nothing else back: the claim stays as it is, and the status tells at the end.
func (r *Reconciler) grow(ctx context.Context, s *state) error {
	claim, wanted, live, err := s.dataClaim()
	if err != nil || live == nil || wanted.Cmp(live.Spec.Resources.Requests[corev1.ResourceStorage]) == 0 {
		return err
	}
	has := live.Spec.Resources.Requests[corev1.ResourceStorage]
	applied, err := r.applier.Set(ctx, s.owner(), []apply.Claim{*claim})
	switch {
	case err == nil:
		claim.Live = applied[0].Object
		return nil
	case !apierrors.IsForbidden(err) && !apierrors.IsInvalid(err):
		return err
	}
	s.notGrown = &status.Failure{
		Condition: v1alpha2.ConditionStorageReady, Reason: v1alpha2.ReasonStorageResizeRefused, Retry: status.Backoff, Err: err,
		Message: fmt.Sprintf("PersistentVolumeClaim %q stays at %s and does not become %s: %s. The pods run on with the volume they have; "+
			"take a storage class that allows expansion, or set spec.workload.storage.size back", live.Name, has.String(), wanted.String(), reasonOf(err)),
	}
	return unstructured.SetNestedField(claim.Wanted.Object, has.String(), sizePath...)
}

// grown ends a reconcile whose claim could not grow.
func (*Reconciler) grown(_ context.Context, s *state) error {
	if s.notGrown == nil {
		return nil
	}
	return s.notGrown
}

// dataClaim is the claim of the stack's data, what it asks for and what is there;
// nil when there is none.
func (s *state) dataClaim() (claim *apply.Claim, wanted resource.Quantity, live *corev1.PersistentVolumeClaim, err error) {
	i := slices.IndexFunc(s.claims, func(c apply.Claim) bool { return c.Wanted.GetKind() == kindClaim })
	if i < 0 || s.claims[i].Live == nil {
		return nil, wanted, nil, nil
	}
	claim = &s.claims[i]
	text, _, err := unstructured.NestedString(claim.Wanted.Object, sizePath...)
	if err == nil {
		wanted, err = resource.ParseQuantity(text)
	}
	if err == nil {
		live, err = typed[corev1.PersistentVolumeClaim](claim.Live)
	}
	if err != nil {
		return nil, wanted, nil, fmt.Errorf("read the size of PersistentVolumeClaim %q: %w", claim.Wanted.GetName(), err)
	}
	return claim, wanted, live, nil
}

// sizeOf is what the volume has; before there is one, what is asked for.
func sizeOf(claim *corev1.PersistentVolumeClaim) resource.Quantity {
	if capacity, ok := claim.Status.Capacity[corev1.ResourceStorage]; ok {
		return capacity
	}
	return claim.Spec.Resources.Requests[corev1.ResourceStorage]
}

// reasonOf is what the API server says, without what it says it of.
func reasonOf(err error) string {
	answer := apierrors.APIStatus(nil)
	if !errors.As(err, &answer) {
		return err.Error()
	}
	message := answer.Status().Message
	if _, reason, found := strings.Cut(message, ": "); found {
		return reason
	}
	return message
}

// storage tells how it stands with the claim.
func storage(object client.Object) metav1.Condition {
	condition := metav1.Condition{
		Type: v1alpha2.ConditionStorageReady, Status: metav1.ConditionTrue,
		Reason: v1alpha2.ReasonStorageReady, Message: "Storage is ready",
	}
	claim, err := typed[corev1.PersistentVolumeClaim](object)
	if err != nil {
		condition.Message = "Storage cannot be read"
		return condition
	}
	asked := claim.Spec.Resources.Requests[corev1.ResourceStorage]
	switch has := sizeOf(claim); {
	case claim.Status.Phase == corev1.ClaimLost:
		condition.Status, condition.Reason = metav1.ConditionFalse, v1alpha2.ReasonStorageLost
		condition.Message = fmt.Sprintf("The volume behind PersistentVolumeClaim %q is gone", claim.Name)
	case claim.Status.Phase != corev1.ClaimBound: // most provisioners wait for the first pod
		condition.Message = "Storage waits for its first pod"
	case has.Cmp(asked) < 0:
		condition.Message = fmt.Sprintf("Storage is ready and grows from %s to %s", has.String(), asked.String())
	}
	return condition
}
