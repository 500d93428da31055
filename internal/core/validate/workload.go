package validate

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

var (
	absoluteForm   = regexp.MustCompile(`^(/[^/:]+)+/?$`)
	dotsForm       = regexp.MustCompile(`(^|/)[.][.]?(/|$)`)
	percentageForm = regexp.MustCompile(`^([0-9]{1,2}|100)%$`)
)

const maxMountPath = 1024

func (c *checks) workload() *v1alpha2.WorkloadSpec { return orZero(c.Spec.Workload) }
func (c *checks) volume() *v1alpha2.VolumeSpec     { return orZero(c.workload().Storage) }

func replicas(c *checks) {
	c.between(spec("workload", "replicas"), c.workload().Replicas, 0, math.MaxInt32)
}

func autoscalingBounds(c *checks) {
	a, path := c.workload().Autoscaling, spec("workload", "autoscaling")
	if a == nil {
		return
	}
	c.between(path.Child("minReplicas"), a.MinReplicas, 1, math.MaxInt32)
	if a.MaxReplicas == 0 {
		c.Required(path.Child("maxReplicas"), "required: set the maximum number of pods, 1 or more")
	} else {
		c.between(path.Child("maxReplicas"), &a.MaxReplicas, 1, math.MaxInt32)
	}
	if len(c.Errors) == 0 && a.MinReplicas != nil && a.MaxReplicas < *a.MinReplicas {
		c.Invalid(path.Child("maxReplicas"), a.MaxReplicas,
			"%d is less than minReplicas, %d: raise maxReplicas or lower minReplicas", a.MaxReplicas, *a.MinReplicas)
	}
}

func autoscalingTargets(c *checks) {
	a, path := orZero(c.workload().Autoscaling), spec("workload", "autoscaling")
	c.between(path.Child("targetCPUUtilization"), a.TargetCPUUtilization, 1, 100)
	c.between(path.Child("targetMemoryUtilization"), a.TargetMemoryUtilization, 1, 100)
}

func storageSize(c *checks) {
	if size := c.volume().Size; size != nil && size.Sign() <= 0 {
		c.InvalidText(spec("workload", "storage", "size"), size.String(), `is not a size greater than 0: write a size such as 10Gi`)
	}
}

// ownMounts returns the paths at which the operator mounts its own volumes. The API server rejects a pod with two
// volumes at the same path.
func (c *checks) ownMounts() []string {
	var mounts []string
	for _, own := range c.ownVolumes() {
		if own.name == names.TmpVolume || own.guarded || own.need != "" && own.name != names.DataVolume {
			mounts = append(mounts, own.dir)
		}
	}
	return mounts
}

func storageMountPath(c *checks) {
	at, path := c.volume().MountPath, spec("workload", "storage", "mountPath")
	switch {
	case at == "":
	case slices.Contains(c.ownMounts(), strings.TrimSuffix(at, "/")):
		c.InvalidText(path, at, `is the mount path of one of the operator's volumes: use another path, for example /.llama`)
	case len(at) > maxMountPath:
		c.tooLong(path, at, maxMountPath)
	case !absoluteForm.MatchString(at) || dotsForm.MatchString(at):
		c.InvalidText(path, at, `is not an absolute path: write a path such as /.llama, without ":", without "//" and without the segments "." and ".."`)
	}
}

func storageAccessModes(c *checks) {
	seen, modes := map[corev1.PersistentVolumeAccessMode]bool{}, c.volume().AccessModes
	for i, mode := range modes {
		path := spec("workload", "storage", "accessModes").Index(i)
		intent.OneOf(&c.Errors, path, mode,
			corev1.ReadWriteOnce, corev1.ReadOnlyMany, corev1.ReadWriteMany, corev1.ReadWriteOncePod)
		if seen[mode] {
			c.duplicate(path, string(mode))
		}
		seen[mode] = true
	}
	if len(modes) > 1 && slices.Contains(modes, corev1.ReadWriteOncePod) {
		c.Forbidden(spec("workload", "storage", "accessModes"), "%s cannot be combined with other modes: keep one of them",
			corev1.ReadWriteOncePod)
	}
}

func storageClass(c *checks) {
	if class := c.volume().StorageClassName; class != nil && *class != "" {
		c.objectName(spec("workload", "storage", "storageClassName"), "StorageClass", *class)
	}
}

func disruptionBudgetOne(c *checks) {
	budget, path := c.workload().PodDisruptionBudget, spec("workload", "podDisruptionBudget")
	switch {
	case budget == nil:
	case budget.MinAvailable == nil && budget.MaxUnavailable == nil:
		c.Required(path, "set either minAvailable or maxUnavailable")
	case budget.MinAvailable != nil && budget.MaxUnavailable != nil:
		c.Forbidden(path, `minAvailable %q and maxUnavailable %q are mutually exclusive: remove one of them`,
			budget.MinAvailable, budget.MaxUnavailable)
	}
}

func disruptionBudgetValue(c *checks) {
	budget, path := orZero(c.workload().PodDisruptionBudget), spec("workload", "podDisruptionBudget")
	c.podCount(path.Child("minAvailable"), budget.MinAvailable)
	c.podCount(path.Child("maxUnavailable"), budget.MaxUnavailable)
}

func (c *checks) podCount(path *field.Path, value *intstr.IntOrString) {
	if value == nil || (value.Type == intstr.Int && value.IntVal >= 0) ||
		(value.Type == intstr.String && percentageForm.MatchString(value.StrVal)) {
		return
	}
	c.InvalidText(path, value.String(), `is neither a number of pods nor a percentage: use a value such as 1 or "50%%"`)
}

func preflight(c *checks) {
	intent.OneOf(&c.Errors, spec("workload", "preflight"), c.workload().Preflight,
		v1alpha2.PreflightAlways, v1alpha2.PreflightAuto, v1alpha2.PreflightNever)
}

// workersWithoutCPU warns about a CPU limit that is too low for the workers. uvicorn, which runs the workers of every
// release, stops a worker that does not respond within five seconds and starts another one. A worker responds only
// after it has imported the server, which takes three seconds of CPU time in release 0.7 and four in 1.5. With less
// than one CPU for each worker, the server might never become ready (server fact 31).
func workersWithoutCPU(c *checks) []string {
	workers := c.workload().Workers
	if workers == nil || *workers < 2 || c.workload().Resources == nil || len(c.overrides().Command) > 0 {
		return nil
	}
	limit, limited := c.workload().Resources.Limits[corev1.ResourceCPU]
	enough := resource.NewQuantity(int64(*workers), resource.DecimalSI)
	if !limited || limit.Cmp(*enough) >= 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s: %q is less than one CPU for each of %d workers, and the server stops a worker that takes more "+
		"than 5 s to start, so the server might never become ready; raise the limit to %q or remove it",
		spec("workload", "resources", "limits").Key(string(corev1.ResourceCPU)), limit.String(), *workers, enough.String())}
}
