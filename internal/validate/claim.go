package validate

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
	"github.com/llamastack/llama-stack-k8s-operator/internal/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
)

// kept is the remedy for a value that never changes in an existing claim.
const kept = "; the storage class and the access modes of an existing volume cannot change, so the pods keep the volume; restore the earlier value, or move the data to a stack with another name"

// Claim returns the errors in spec.workload.storage that ask for a change to an existing PersistentVolumeClaim which
// Kubernetes does not allow: another storage class, other access modes, or a smaller size. The operator keeps the
// claim, and reports the first error in the condition StorageReady.
func Claim(stack *v1alpha2.LlamaStackDistribution, claim *corev1.PersistentVolumeClaim) field.ErrorList {
	c := &checks{LlamaStackDistribution: stack}
	if c.workload().Storage != nil {
		c.keptClass(claim)
		c.keptModes(claim)
		c.keptSize(claim)
	}
	return field.ErrorList(c.Errors)
}

// keptClass reports another storage class. A claim without a class can still get one until it has a volume.
func (c *checks) keptClass(claim *corev1.PersistentVolumeClaim) {
	asked, has := c.volume().StorageClassName, claim.Spec.StorageClassName
	if asked == nil || has == nil && claim.Spec.VolumeName == "" || *asked == ptr.Deref(has, "") {
		return
	}
	c.Invalid(spec("workload", "storage", "storageClassName"), field.OmitValueType{},
		"PersistentVolumeClaim %q has storage class %q, not %q"+kept, claim.Name, ptr.Deref(has, ""), *asked)
}

func (c *checks) keptModes(claim *corev1.PersistentVolumeClaim) {
	asked, has := modeTexts(c.modes()), modeTexts(claim.Spec.AccessModes)
	if slices.Equal(slices.Sorted(slices.Values(asked)), slices.Sorted(slices.Values(has))) {
		return
	}
	c.Invalid(spec("workload", "storage", "accessModes"), field.OmitValueType{},
		"the list of access modes of PersistentVolumeClaim %q is %s, not %s"+kept,
		claim.Name, strings.Join(has, ", "), strings.Join(asked, ", "))
}

// keptSize reports a size that is smaller than the claim's request, unless it only reverts an expansion that did not
// happen.
func (c *checks) keptSize(claim *corev1.PersistentVolumeClaim) {
	asked, requested := c.volume().Size, claim.Spec.Resources.Requests[corev1.ResourceStorage]
	has := claim.Status.Capacity[corev1.ResourceStorage]
	if asked == nil || asked.Cmp(requested) >= 0 || !has.IsZero() && asked.Cmp(has) > 0 {
		return
	}
	c.Invalid(spec("workload", "storage", "size"), field.OmitValueType{},
		"%s is less than the %s that PersistentVolumeClaim %q requests, and a volume cannot shrink. "+
			"The pods keep their volume; set %[2]s or more, or remove size", asked.String(), requested.String(), claim.Name)
}

// VolumeChange returns the errors of Claim that an update of a stack adds. An error that the stack already has is a
// warning. A nil claim means that the claim is not known. VolumeChange then assumes that the claim is as the earlier
// spec requests, unless the status reports that it is not.
func VolumeChange(
	before, after *v1alpha2.LlamaStackDistribution, claim *corev1.PersistentVolumeClaim,
) (errs, warnings []string) {
	earlier := &checks{LlamaStackDistribution: before}
	if claim == nil {
		if earlier.workload().Storage == nil {
			return nil, nil
		}
		claim = earlier.claim()
		if unlike := meta.FindStatusCondition(before.Status.Conditions, v1alpha2.ConditionStorageReady); unlike != nil &&
			unlike.Status == metav1.ConditionFalse {
			return nil, []string{fmt.Sprintf("%s: whether PersistentVolumeClaim %q can change to this spec is not known, because "+
				"the condition %s of the earlier stack is False: %s", spec("workload", "storage"), claim.Name, unlike.Type, unlike.Message)}
		}
		warnings = (&checks{LlamaStackDistribution: after}).defaultClass(claim)
	}
	known := Claim(before, claim)
	for _, err := range Claim(after, claim) {
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
func (c *checks) defaultClass(claim *corev1.PersistentVolumeClaim) []string {
	asked := c.volume().StorageClassName
	if asked == nil || claim.Spec.StorageClassName != nil {
		return nil
	}
	return []string{fmt.Sprintf("%s: the storage class of PersistentVolumeClaim %q was the default class of the cluster, which is "+
		"not known here and might not be %q"+kept, spec("workload", "storage", "storageClassName"), claim.Name, *asked)}
}

// claim returns the claim that the operator creates for a stack with a volume. A nil class means the cluster's default.
func (c *checks) claim() *corev1.PersistentVolumeClaim {
	size := ptr.Deref(c.volume().Size, resource.MustParse(v1alpha2.DefaultStorageSize))
	claim := &corev1.PersistentVolumeClaim{Spec: corev1.PersistentVolumeClaimSpec{
		AccessModes: c.modes(), StorageClassName: c.volume().StorageClassName,
		Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: size}},
	}}
	claim.Name = names.PersistentVolumeClaim(c.Name)
	return claim
}

func (c *checks) modes() []corev1.PersistentVolumeAccessMode {
	if modes := c.volume().AccessModes; len(modes) > 0 {
		return modes
	}
	return []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
}

func modeTexts(modes []corev1.PersistentVolumeAccessMode) []string {
	texts := make([]string, 0, len(modes))
	for _, mode := range modes {
		texts = append(texts, string(mode))
	}
	return texts
}
