package volume

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/quantity"
)

// These are the paths of the requested values in a claim.
var (
	sizePath  = []string{"spec", "resources", "requests", string(corev1.ResourceStorage)}
	classPath = []string{"spec", "storageClassName"}
	modesPath = []string{"spec", "accessModes"}
)

// Size returns the size that a claim to apply requests.
func Size(wanted *unstructured.Unstructured) (resource.Quantity, error) {
	text, _, err := unstructured.NestedString(wanted.Object, sizePath...)
	if err != nil {
		return resource.Quantity{}, err
	}
	return quantity.Parse(text)
}

// Request sets the size that a claim to apply requests.
func Request(wanted *unstructured.Unstructured, size resource.Quantity) error {
	return unstructured.SetNestedField(wanted.Object, size.String(), sizePath...)
}

// Keep changes a claim to apply so that it keeps the values of the live claim that cannot change to the values in the
// spec. It reports whether these include the access modes.
func Keep(
	stack *v1alpha2.LlamaStackDistribution, wanted *unstructured.Unstructured, live *corev1.PersistentVolumeClaim,
) (keptModes bool, err error) {
	if err := keepSize(stack, wanted, live); err != nil {
		return false, err
	}
	if err := keepClass(wanted, live); err != nil {
		return false, err
	}
	return keepModes(wanted, live)
}

// keepSize keeps the claim's request unless the size in the spec differs from the request and exceeds the capacity of
// the volume. The volume can be larger than the request if a user created the volume, or if the provisioner rounds up.
// The request shrinks only to revert an expansion that did not happen.
func keepSize(
	stack *v1alpha2.LlamaStackDistribution, wanted *unstructured.Unstructured, live *corev1.PersistentVolumeClaim,
) error {
	size, err := Size(wanted)
	if err != nil {
		return err
	}
	requested, has := Requested(live), live.Status.Capacity[corev1.ResourceStorage]
	larger := size.Cmp(requested)
	if Spec(stack).Size != nil && larger != 0 && size.Cmp(has) > 0 && (larger > 0 || !has.IsZero()) {
		return nil
	}
	return Request(wanted, requested)
}

// keepClass keeps the storage class, which cannot change after the volume is created.
func keepClass(wanted *unstructured.Unstructured, live *corev1.PersistentVolumeClaim) error {
	_, asked, _ := unstructured.NestedString(wanted.Object, classPath...)
	has := live.Spec.StorageClassName
	switch {
	case !asked || has == nil && live.Spec.VolumeName == "":
		return nil
	case has == nil:
		unstructured.RemoveNestedField(wanted.Object, classPath...)
		return nil
	default:
		return unstructured.SetNestedField(wanted.Object, *has, classPath...)
	}
}

// keepModes keeps the access modes, which cannot change. It reports whether they differ from the wanted ones.
func keepModes(wanted *unstructured.Unstructured, live *corev1.PersistentVolumeClaim) (kept bool, err error) {
	asked, _, _ := unstructured.NestedStringSlice(wanted.Object, modesPath...)
	has := texts(live.Spec.AccessModes)
	if slices.Equal(slices.Sorted(slices.Values(asked)), slices.Sorted(slices.Values(has))) {
		return false, nil
	}
	if err := unstructured.SetNestedStringSlice(wanted.Object, has, modesPath...); err != nil {
		return false, err
	}
	return true, nil
}

// Requested returns the requested size of the claim.
func Requested(claim *corev1.PersistentVolumeClaim) resource.Quantity {
	return claim.Spec.Resources.Requests[corev1.ResourceStorage]
}

// sizeOf returns the size of the volume, or the requested size while there is no volume.
func sizeOf(claim *corev1.PersistentVolumeClaim) resource.Quantity {
	if capacity, ok := claim.Status.Capacity[corev1.ResourceStorage]; ok {
		return capacity
	}
	return Requested(claim)
}

// Condition returns the condition for the state of the volume claim.
func Condition(claim *corev1.PersistentVolumeClaim) metav1.Condition {
	condition := metav1.Condition{
		Type: v1alpha2.ConditionStorageReady, Status: metav1.ConditionTrue,
		Reason: v1alpha2.ReasonStorageReady, Message: "Storage is ready",
	}
	asked := Requested(claim)
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
