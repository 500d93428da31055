package volume

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// kept is the remedy for a value that never changes in an existing claim.
const kept = "; the storage class and the access modes of an existing volume cannot change, so the pods keep the volume; restore the earlier value, or move the data to a stack with another name"

// path is the path of the volume in a spec.
var path = field.NewPath("spec", "workload", "storage")

// Conflicts returns the errors in spec.workload.storage that ask for a change to an existing PersistentVolumeClaim
// which Kubernetes does not allow: another storage class, other access modes, or a smaller size. The operator keeps the
// claim, and reports the first error in the condition StorageReady.
func Conflicts(stack *v1alpha2.LlamaStackDistribution, claim *corev1.PersistentVolumeClaim) field.ErrorList {
	volume := Spec(stack)
	if volume == nil {
		return nil
	}
	var errs intent.Errors
	conflictingClass(&errs, volume, claim)
	conflictingModes(&errs, volume, claim)
	conflictingSize(&errs, volume, claim)
	return field.ErrorList(errs)
}

// conflictingClass reports another storage class. A claim without a class can still get one until it has a volume.
func conflictingClass(errs *intent.Errors, volume *v1alpha2.VolumeSpec, claim *corev1.PersistentVolumeClaim) {
	asked, has := volume.StorageClassName, claim.Spec.StorageClassName
	if asked == nil || has == nil && claim.Spec.VolumeName == "" || *asked == ptr.Deref(has, "") {
		return
	}
	errs.Invalid(path.Child("storageClassName"), field.OmitValueType{},
		"PersistentVolumeClaim %q has storage class %q, not %q"+kept, claim.Name, ptr.Deref(has, ""), *asked)
}

func conflictingModes(errs *intent.Errors, volume *v1alpha2.VolumeSpec, claim *corev1.PersistentVolumeClaim) {
	asked, has := texts(modes(volume)), texts(claim.Spec.AccessModes)
	if slices.Equal(slices.Sorted(slices.Values(asked)), slices.Sorted(slices.Values(has))) {
		return
	}
	errs.Invalid(path.Child("accessModes"), field.OmitValueType{},
		"the list of access modes of PersistentVolumeClaim %q is %s, not %s"+kept,
		claim.Name, strings.Join(has, ", "), strings.Join(asked, ", "))
}

// conflictingSize reports a size that is smaller than the claim's request, unless it only reverts an expansion that did
// not happen.
func conflictingSize(errs *intent.Errors, volume *v1alpha2.VolumeSpec, claim *corev1.PersistentVolumeClaim) {
	asked, requested := volume.Size, claim.Spec.Resources.Requests[corev1.ResourceStorage]
	has := claim.Status.Capacity[corev1.ResourceStorage]
	if asked == nil || asked.Cmp(requested) >= 0 || !has.IsZero() && asked.Cmp(has) > 0 {
		return
	}
	errs.Invalid(path.Child("size"), field.OmitValueType{},
		"%s is less than the %s that PersistentVolumeClaim %q requests, and a volume cannot shrink. "+
			"The pods keep their volume; set %[2]s or more, or remove size", asked.String(), requested.String(), claim.Name)
}

// Change returns the errors of Conflicts that an update of a stack adds. An error that the stack already has is a
// warning. A nil claim means that the claim is not known. Change then assumes that the claim is as the earlier spec
// requests, unless the status reports that it is not.
func Change(
	before, after *v1alpha2.LlamaStackDistribution, claim *corev1.PersistentVolumeClaim,
) (errs, warnings []string) {
	if claim == nil {
		if Spec(before) == nil {
			return nil, nil
		}
		claim = requested(before)
		if unlike := meta.FindStatusCondition(before.Status.Conditions, v1alpha2.ConditionStorageReady); unlike != nil &&
			unlike.Status == metav1.ConditionFalse {
			return nil, []string{fmt.Sprintf("%s: whether PersistentVolumeClaim %q can change to this spec is not known, because "+
				"the condition %s of the earlier stack is False: %s", path, claim.Name, unlike.Type, unlike.Message)}
		}
		warnings = defaultClass(Spec(after), claim)
	}
	known := Conflicts(before, claim)
	for _, err := range Conflicts(after, claim) {
		text := intent.Message(err)
		if slices.ContainsFunc(known, func(other *field.Error) bool { return intent.Message(other) == text }) {
			warnings = append(warnings, text)
		} else {
			errs = append(errs, text)
		}
	}
	return errs, warnings
}

// defaultClass returns a warning about a storage class for a claim whose class is the default of an unknown cluster.
func defaultClass(volume *v1alpha2.VolumeSpec, claim *corev1.PersistentVolumeClaim) []string {
	if volume == nil || volume.StorageClassName == nil || claim.Spec.StorageClassName != nil {
		return nil
	}
	return []string{fmt.Sprintf("%s: the storage class of PersistentVolumeClaim %q was the default class of the cluster, "+
		"which is not known here and might not be %q"+kept, path.Child("storageClassName"), claim.Name, *volume.StorageClassName)}
}

// requested returns the claim that the operator creates for a stack with a volume. A nil class means the cluster's
// default.
func requested(stack *v1alpha2.LlamaStackDistribution) *corev1.PersistentVolumeClaim {
	volume := Spec(stack)
	size := ptr.Deref(volume.Size, resource.MustParse(v1alpha2.DefaultStorageSize))
	claim := &corev1.PersistentVolumeClaim{Spec: corev1.PersistentVolumeClaimSpec{
		AccessModes: modes(volume), StorageClassName: volume.StorageClassName,
		Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: size}},
	}}
	claim.Name = names.PersistentVolumeClaim(stack.Name)
	return claim
}

// Spec returns spec.workload.storage, or nil.
func Spec(stack *v1alpha2.LlamaStackDistribution) *v1alpha2.VolumeSpec {
	if stack.Spec.Workload == nil {
		return nil
	}
	return stack.Spec.Workload.Storage
}

func modes(volume *v1alpha2.VolumeSpec) []corev1.PersistentVolumeAccessMode {
	if len(volume.AccessModes) > 0 {
		return volume.AccessModes
	}
	return []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
}

func texts(modes []corev1.PersistentVolumeAccessMode) []string {
	texts := make([]string, 0, len(modes))
	for _, mode := range modes {
		texts = append(texts, string(mode))
	}
	return texts
}
