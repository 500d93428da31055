package bounds

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/typecheck"
)

// Pod is a rendered pod template, and the parts of the template that the operator chose.
type Pod struct {
	Template *corev1ac.PodTemplateSpecApplyConfiguration
	// Images lists the images of the server and of external providers. Rule.Pod does not check them, because Rule.Image
	// checks them.
	Images []string
	// ServiceAccount is the ServiceAccount that the operator creates for the stack, or "" if the stack names one.
	ServiceAccount string
}

// Pod checks the rendered pod, independently of the stack fields that determine it.
func (r *Rule) Pod(pod Pod) (field.ErrorList, error) {
	if r == nil {
		return nil, nil
	}
	spec := &corev1.PodTemplateSpec{}
	data, err := json.Marshal(pod.Template)
	if err == nil {
		err = typecheck.Unmarshal(data, spec)
	}
	if err != nil {
		return nil, fmt.Errorf("read the pod template: %w", err)
	}
	overrides := field.NewPath("spec", "workload", "overrides")
	errs := r.images(&spec.Spec, pod.Images, overrides.Child("podTemplate", "spec"))
	if account := spec.Spec.ServiceAccountName; r.ServiceAccounts != nil &&
		(pod.ServiceAccount == "" || account != pod.ServiceAccount) && !matches(r.ServiceAccounts, account) {
		errs = append(errs, field.Invalid(overrides.Child("serviceAccountName"), account,
			fmt.Sprintf("the ServiceAccount %q is not allowed in this namespace: %sremove serviceAccountName from the overrides and from podTemplate; or %s", account, use("one of", r.ServiceAccounts), remedy)))
	}
	if detail := r.podSecurity(spec); detail != "" {
		errs = append(errs, field.Forbidden(overrides,
			fmt.Sprintf("the pods in this namespace must meet the Pod Security Standard %q: %s; change these settings, or %s", r.PodSecurity, detail, remedy)))
	}
	return errs, nil
}

// images checks the images of the user's own containers and volumes. It skips the images in checked.
func (r *Rule) images(spec *corev1.PodSpec, checked []string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	check := func(image string, path *field.Path) {
		if !slices.Contains(checked, image) {
			errs = append(errs, r.Image(image, path)...)
		}
	}
	for i := range spec.InitContainers {
		check(spec.InitContainers[i].Image, path.Child("initContainers").Key(spec.InitContainers[i].Name).Child("image"))
	}
	for i := range spec.Containers {
		check(spec.Containers[i].Image, path.Child("containers").Key(spec.Containers[i].Name).Child("image"))
	}
	for i := range spec.Volumes {
		if image := imageOf(&spec.Volumes[i]); image != "" {
			check(image, path.Child("volumes").Key(spec.Volumes[i].Name).Child("image", "reference"))
		}
	}
	return errs
}

// imageOf returns the image that a volume mounts, or "" if the volume does not mount an image.
func imageOf(volume *corev1.Volume) string {
	if volume.Image == nil {
		return ""
	}
	return volume.Image.Reference
}

// evaluator returns the checks for the Pod Security Standards in the Kubernetes release that the operator is built
// with.
var evaluator = sync.OnceValue(func() policy.Evaluator {
	checks, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		panic(fmt.Sprintf("bounds: create the checks of the Pod Security Standards: %v", err)) // This never happens, because the default checks are constants.
	}
	return checks
})

// podSecurity returns the pod's violations of the standard in PodSecurity, or "" if there are none.
func (r *Rule) podSecurity(pod *corev1.PodTemplateSpec) string {
	if r.PodSecurity == "" || r.PodSecurity == api.LevelPrivileged {
		return ""
	}
	level := api.LevelVersion{Level: r.PodSecurity, Version: api.LatestVersion()}
	result := policy.AggregateCheckResults(evaluator().EvaluatePod(level, &pod.ObjectMeta, &pod.Spec))
	if result.Allowed {
		return ""
	}
	return result.ForbiddenDetail()
}
