package render

import (
	"maps"

	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
)

// podTemplate returns the pod template of the server. Every input that it reads must be in rollout.Inputs. Otherwise a
// change of that input would not be detected.
func podTemplate(in Input) (*corev1ac.PodTemplateSpecApplyConfiguration, error) {
	user := overrides(&in.Stack.Spec)
	volumes, mounts, err := volumes(in)
	if err != nil {
		return nil, err
	}
	container, err := serverContainer(in, mounts)
	if err != nil {
		return nil, err
	}
	pullSecrets, err := applyConfiguration[[]*corev1ac.LocalObjectReferenceApplyConfiguration](
		"spec.workload.overrides.imagePullSecrets", user.ImagePullSecrets)
	if err != nil {
		return nil, err
	}
	spread, err := spreadConstraints(in)
	if err != nil {
		return nil, err
	}
	external, err := externalContainers(in, container)
	if err != nil {
		return nil, err
	}
	pod := corev1ac.PodSpec().
		WithServiceAccountName(ServiceAccountName(in.Stack)).
		WithSecurityContext(podSecurity(in)).
		WithImagePullSecrets(pullSecrets...).
		WithAffinity(affinity(in)).
		WithTopologySpreadConstraints(spread...).
		WithContainers(container).
		WithVolumes(volumes...)
	if !in.ServiceLinks {
		pod.WithEnableServiceLinks(false) // a Service named postgres would set POSTGRES_PORT to a URL
	}
	if !compat(in) {
		pod.WithAutomountServiceAccountToken(false)
	}
	pod.WithInitContainers(external...)
	if files := modelFilesContainer(in, container); files != nil {
		pod.WithInitContainers(files)
	}
	if len(in.Directories) > 0 {
		pod.WithInitContainers(directoryContainer(in.Directories, container))
	}
	if in.Registry != nil && !startsWrapped(in) {
		pod.WithInitContainers(registryContainer(in, container))
	}
	if seconds := user.TerminationGracePeriodSeconds; seconds != nil {
		pod.WithTerminationGracePeriodSeconds(*seconds)
	}
	template, err := patched(in, corev1ac.PodTemplateSpec().
		WithLabels(podLabels(in.Stack.Name, user)).
		WithAnnotations(podAnnotations(in, user)).
		WithSpec(pod))
	if err != nil {
		return nil, err
	}
	imported(in, template)
	drained(in, template)
	return template, nil
}

// podLabels returns the user's labels with the operator's over them, because the selector must match.
func podLabels(stack string, user *v1alpha2.WorkloadOverrides) map[string]string {
	labels := maps.Clone(user.PodLabels)
	if labels == nil {
		labels = make(map[string]string)
	}
	maps.Copy(labels, names.Selector(stack))
	return labels
}

// podAnnotations returns the user's annotations with the operator's over them.
func podAnnotations(in Input, user *v1alpha2.WorkloadOverrides) map[string]string {
	annotations := maps.Clone(user.PodAnnotations)
	if annotations == nil {
		annotations = make(map[string]string)
	}
	delete(annotations, names.AnnotationConfigHash)
	delete(annotations, names.AnnotationInputs)
	delete(annotations, names.AnnotationCABundleHash)
	delete(annotations, names.AnnotationGeneration)
	if in.CABundle != nil {
		annotations[names.AnnotationCABundleHash] = in.CABundle.Hash
	}
	if in.Config != nil {
		annotations[names.AnnotationConfigHash] = in.Config.Hash
	}
	if value := generation(in); value != "" {
		annotations[names.AnnotationGeneration] = value
	}
	if in.Inputs != "" {
		annotations[names.AnnotationInputs] = in.Inputs
	}
	return annotations
}
