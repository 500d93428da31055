package plan

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/bounds"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// Bounded checks the parts of a stack that are known before the operator reads an image: the fields of the spec,
// including the images of external providers and of model files, and the image of the distribution. A forbidden image
// is never read.
func Bounded(rule *bounds.Rule, object *v1alpha2.LlamaStackDistribution, image string) field.ErrorList {
	path := field.NewPath("spec", "distribution")
	if object.Spec.Distribution.Name == "" {
		path = path.Child("image")
	}
	errs := rule.Image(image, path)
	for _, api := range slices.Sorted(maps.Keys(object.Spec.ExternalProviders)) {
		path := field.NewPath("spec", "externalProviders", api)
		for i, provider := range object.Spec.ExternalProviders[api] {
			errs = append(errs, rule.Image(provider.Image, path.Index(i).Child("image"))...)
		}
	}
	if files := object.Spec.ModelFiles; files != nil && files.Image != nil {
		errs = append(errs, rule.Image(files.Image.Reference, field.NewPath("spec", "modelFiles", "image", "reference"))...)
	}
	return append(errs, rule.Spec(&object.Spec, Expose(&object.Spec))...)
}

// bounded checks the pods of the stack against the limits.
func (p *Plan) bounded(in Input, deployment *appsv1ac.DeploymentApplyConfiguration) error {
	images := []string{p.input.Image}
	for _, provider := range p.input.External {
		images = append(images, provider.Image)
	}
	if files := in.Object.Spec.ModelFiles; files != nil && files.Image != nil {
		images = append(images, files.Image.Reference)
	}
	pod := bounds.Pod{Template: deployment.Spec.Template, Images: images}
	// If the user names the ServiceAccount, the operator does not create it, and it can belong to anyone.
	if w := in.Object.Spec.Workload; w == nil || w.Overrides == nil || w.Overrides.ServiceAccountName == "" {
		pod.ServiceAccount = names.ServiceAccount(in.Object.Name)
	}
	errs, err := in.Bounds.Pod(pod)
	if err != nil {
		return fmt.Errorf("check the pods of stack %q: %w", in.Object.Name, err)
	}
	if len(errs) > 0 {
		return forbidden(errs)
	}
	return nil
}

// forbidden returns the error for values that an administrator does not allow.
func forbidden(errs field.ErrorList) error {
	return &ConfigError{
		Condition: v1alpha2.ConditionValidationSucceeded, Reason: v1alpha2.ReasonForbiddenByBounds, Errors: errs,
	}
}
