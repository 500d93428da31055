package render

import (
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/podtemplate"
)

// podTemplate returns the pod template of the server. Every input that it reads must be in rollout.Inputs. Otherwise,
// the operator does not detect a change to that input.
func podTemplate(in Input) (*corev1ac.PodTemplateSpecApplyConfiguration, error) {
	pod, err := podSpec(in)
	if err != nil {
		return nil, err
	}
	user := intent.Overrides(&in.Stack.Spec)
	template, err := patched(in, corev1ac.PodTemplateSpec().
		WithLabels(merged(user.PodLabels, names.Selector(in.Stack.Name))).
		WithAnnotations(podAnnotations(in, user)).
		WithSpec(pod))
	if err != nil {
		return nil, err
	}
	imported(in, template)
	drained(in, template)
	return template, nil
}

func podSpec(in Input) (*corev1ac.PodSpecApplyConfiguration, error) {
	volumes, mounts, err := volumes(in)
	if err != nil {
		return nil, err
	}
	server, err := serverContainer(in, mounts)
	if err != nil {
		return nil, err
	}
	before, err := initContainers(in, server)
	if err != nil {
		return nil, err
	}
	pod := corev1ac.PodSpec().
		WithServiceAccountName(ServiceAccountName(in.Stack)).
		WithSecurityContext(podSecurity(in)).
		WithAffinity(affinity(in)).
		WithInitContainers(before...).
		WithContainers(server).
		WithVolumes(volumes...)
	return pod, setPodOptions(in, pod)
}

// initContainers returns the containers that run before the server's container, in order.
func initContainers(
	in Input, server *corev1ac.ContainerApplyConfiguration,
) ([]*corev1ac.ContainerApplyConfiguration, error) {
	all, err := externalContainers(in, server)
	if err != nil {
		return nil, err
	}
	if files := modelFilesContainer(in, server); files != nil {
		all = append(all, files)
	}
	if len(in.Directories) > 0 {
		all = append(all, directoryContainer(in.Directories, server))
	}
	if in.Registry != nil && !startsWrapped(in) {
		all = append(all, registryContainer(server))
	}
	return all, nil
}

// setPodOptions sets the pod options that the spec can change.
func setPodOptions(in Input, pod *corev1ac.PodSpecApplyConfiguration) error {
	user := intent.Overrides(&in.Stack.Spec)
	pullSecrets, err := applyConfiguration[[]*corev1ac.LocalObjectReferenceApplyConfiguration](
		"spec.workload.overrides.imagePullSecrets", user.ImagePullSecrets)
	if err != nil {
		return err
	}
	spread, err := spreadConstraints(in)
	if err != nil {
		return err
	}
	pod.WithImagePullSecrets(pullSecrets...).WithTopologySpreadConstraints(spread...)
	if !in.ServiceLinks {
		pod.WithEnableServiceLinks(false) // a Service named postgres would set POSTGRES_PORT to a URL
	}
	if !of(in).MountsToken {
		pod.WithAutomountServiceAccountToken(false)
	}
	if seconds := user.TerminationGracePeriodSeconds; seconds != nil {
		pod.WithTerminationGracePeriodSeconds(*seconds)
	}
	return nil
}

// podAnnotations returns the user's annotations and the operator's, which take precedence.
func podAnnotations(in Input, user *v1alpha2.WorkloadOverrides) map[string]string {
	annotations := merged(user.PodAnnotations)
	for _, own := range podtemplate.OwnAnnotations() {
		delete(annotations, own)
	}
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
