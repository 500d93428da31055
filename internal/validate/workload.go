package validate

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
)

var (
	absoluteForm   = regexp.MustCompile(`^(/[^/:]+)+/?$`)
	dotsForm       = regexp.MustCompile(`(^|/)[.][.]?(/|$)`)
	percentageForm = regexp.MustCompile(`^([0-9]{1,2}|100)%$`)
)

const maxMountPath = 1024

func workload(obj *object) *v1alpha2.WorkloadSpec {
	if obj.Spec.Workload == nil {
		return &v1alpha2.WorkloadSpec{}
	}
	return obj.Spec.Workload
}

func replicas(obj *object) field.ErrorList {
	return between(spec("workload", "replicas"), workload(obj).Replicas, 0, maxInt32)
}

func autoscalingBounds(obj *object) field.ErrorList {
	a, path := workload(obj).Autoscaling, spec("workload", "autoscaling")
	if a == nil {
		return nil
	}
	errs := between(path.Child("minReplicas"), a.MinReplicas, 1, maxInt32)
	errs = append(errs, between(path.Child("maxReplicas"), &a.MaxReplicas, 1, maxInt32)...)
	if len(errs) == 0 && a.MinReplicas != nil && a.MaxReplicas < *a.MinReplicas {
		errs = append(errs, field.Invalid(path.Child("maxReplicas"), a.MaxReplicas, fmt.Sprintf(
			"%d is less than minReplicas, %d: raise maxReplicas or lower minReplicas", a.MaxReplicas, *a.MinReplicas)))
	}
	return errs
}

func autoscalingTargets(obj *object) field.ErrorList {
	a, path := workload(obj).Autoscaling, spec("workload", "autoscaling")
	if a == nil {
		return nil
	}
	return append(between(path.Child("targetCPUUtilization"), a.TargetCPUUtilization, 1, 100),
		between(path.Child("targetMemoryUtilization"), a.TargetMemoryUtilization, 1, 100)...)
}

func volume(obj *object) *v1alpha2.VolumeSpec {
	if v := workload(obj).Storage; v != nil {
		return v
	}
	return &v1alpha2.VolumeSpec{}
}

func storageSize(obj *object) field.ErrorList {
	size := volume(obj).Size
	if size == nil || size.Sign() > 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(spec("workload", "storage", "size"), size.String(), fmt.Sprintf(
		`%q is no size: write one like 10Gi`, size.String()))}
}

// ownMounts are where the operator mounts volumes of its own; a pod with two at one path is refused.
var ownMounts = []string{"/tmp", names.ConfigDir, names.TLSDir, names.CADir, names.StartupDir}

func storageMountPath(obj *object) field.ErrorList {
	path := volume(obj).MountPath
	if slices.Contains(ownMounts, strings.TrimSuffix(path, "/")) {
		return field.ErrorList{field.Invalid(spec("workload", "storage", "mountPath"), path, fmt.Sprintf(
			`%q is where the operator mounts a volume of its own: take another path, for example /.llama`, path))}
	}
	if path == "" || (len(path) <= maxMountPath && absoluteForm.MatchString(path) && !dotsForm.MatchString(path)) {
		return nil
	}
	return field.ErrorList{field.Invalid(spec("workload", "storage", "mountPath"), path, fmt.Sprintf(
		`%q is not an absolute path: write one like /.llama, without ":", "." and ".."`, path))}
}

func storageAccessModes(obj *object) field.ErrorList {
	var errs field.ErrorList
	modes := volume(obj).AccessModes
	twice := repeated(modes)
	for i, mode := range modes {
		path := spec("workload", "storage", "accessModes").Index(i)
		errs = append(errs, oneOf(path, mode, corev1.ReadWriteOnce, corev1.ReadOnlyMany, corev1.ReadWriteMany, corev1.ReadWriteOncePod)...)
		if twice[i] {
			errs = append(errs, duplicate(path, string(mode)))
		}
	}
	return errs
}

func disruptionBudgetOne(obj *object) field.ErrorList {
	budget, path := workload(obj).PodDisruptionBudget, spec("workload", "podDisruptionBudget")
	switch {
	case budget == nil:
		return nil
	case budget.MinAvailable == nil && budget.MaxUnavailable == nil:
		return field.ErrorList{field.Required(path, "needs minAvailable or maxUnavailable")}
	case budget.MinAvailable != nil && budget.MaxUnavailable != nil:
		return field.ErrorList{field.Forbidden(path, fmt.Sprintf(
			`minAvailable %q and maxUnavailable %q exclude each other: remove one of them`,
			budget.MinAvailable, budget.MaxUnavailable))}
	}
	return nil
}

func disruptionBudgetValue(obj *object) field.ErrorList {
	budget, path := workload(obj).PodDisruptionBudget, spec("workload", "podDisruptionBudget")
	if budget == nil {
		return nil
	}
	return append(podCount(path.Child("minAvailable"), budget.MinAvailable),
		podCount(path.Child("maxUnavailable"), budget.MaxUnavailable)...)
}

func podCount(path *field.Path, value *intstr.IntOrString) field.ErrorList {
	if value == nil || (value.Type == intstr.Int && value.IntVal >= 0) ||
		(value.Type == intstr.String && percentageForm.MatchString(value.StrVal)) {
		return nil
	}
	return field.ErrorList{field.Invalid(path, value.String(), fmt.Sprintf(
		`%q is neither a number of pods nor a percentage: write 1 or "50%%"`, value))}
}

func preflight(obj *object) field.ErrorList {
	return oneOf(spec("workload", "preflight"), workload(obj).Preflight,
		v1alpha2.PreflightAlways, v1alpha2.PreflightAuto, v1alpha2.PreflightNever)
}
