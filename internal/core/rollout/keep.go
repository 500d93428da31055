package rollout

import (
	"fmt"
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// ownTemplate returns the part of the live template that this operator owns. Applying this part changes nothing. The
// result is nil if the operator owns no part.
//
// ownTemplate returns an error for a Deployment without managed fields, because only a cache can have removed these
// fields. Applying an empty template would remove all of the operator's fields.
func ownTemplate(live *appsv1.Deployment) (*corev1ac.PodTemplateSpecApplyConfiguration, error) {
	if len(live.ManagedFields) == 0 {
		return nil, fmt.Errorf("extract the operator's fields from the template of Deployment %q: the Deployment was read without its managed fields", live.Name)
	}
	own, err := appsv1ac.ExtractDeployment(live, names.FieldManager)
	if err != nil {
		return nil, fmt.Errorf("extract the operator's fields from the template of Deployment %q: %w", live.Name, err)
	}
	if own.Spec == nil {
		return nil, nil
	}
	return own.Spec.Template, nil
}

// clone copies a Deployment and the parts of it that this package modifies.
func clone(deployment *appsv1ac.DeploymentApplyConfiguration) *appsv1ac.DeploymentApplyConfiguration {
	result := *deployment
	result.ObjectMetaApplyConfiguration = cloneMetadata(deployment.ObjectMetaApplyConfiguration)
	spec := *deployment.Spec
	result.Spec = &spec
	return &result
}

func cloneMetadata(metadata *metav1ac.ObjectMetaApplyConfiguration) *metav1ac.ObjectMetaApplyConfiguration {
	if metadata == nil {
		return &metav1ac.ObjectMetaApplyConfiguration{}
	}
	result := *metadata
	result.Annotations = maps.Clone(metadata.Annotations)
	return &result
}

// withAnnotation returns a copy of the template with an annotation. An empty value removes the annotation.
func withAnnotation(
	template *corev1ac.PodTemplateSpecApplyConfiguration, name, value string,
) *corev1ac.PodTemplateSpecApplyConfiguration {
	result := *template
	result.ObjectMetaApplyConfiguration = cloneMetadata(template.ObjectMetaApplyConfiguration)
	delete(result.Annotations, name)
	if value != "" {
		result.WithAnnotations(map[string]string{name: value})
	}
	return &result
}
