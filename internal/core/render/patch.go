package render

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/podtemplate"
)

// InvalidError reports a spec that cannot be rendered. Each of its errors contains the field.
type InvalidError struct {
	Errors field.ErrorList
}

// Error returns the errors of all fields.
func (e *InvalidError) Error() string {
	return fmt.Sprintf("render the spec: %v", e.Errors.ToAggregate())
}

// patched applies the user's patch to the complete template. Only the functions that adapt to the patch, imported and
// drained, run after it.
func patched(in Input, template *corev1ac.PodTemplateSpecApplyConfiguration,
) (*corev1ac.PodTemplateSpecApplyConfiguration, error) {
	patch := intent.Overrides(&in.Stack.Spec).PodTemplate
	if patch == nil {
		return template, nil
	}
	result, errs := podtemplate.Apply(template, patch.Raw, field.NewPath("spec", "workload", "overrides", "podTemplate"))
	if len(errs) > 0 {
		return nil, &InvalidError{Errors: errs}
	}
	return result, nil
}
