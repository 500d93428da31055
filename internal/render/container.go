package render

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
)

// insecureArgument makes a server that demands TLS serve plain HTTP.
const insecureArgument = "--insecure"

// defaultMemory is requested when the user says nothing about resources.
const defaultMemory = "1Gi"

// serverContainer runs the image's entrypoint, which reads the environment and adds instrumentation; a command of ours
// would lose that, and is only given to an image that would not find its configuration.
func serverContainer(
	in Input, mounts []*corev1ac.VolumeMountApplyConfiguration,
) (*corev1ac.ContainerApplyConfiguration, error) {
	spec := &in.Stack.Spec
	user := overrides(spec)
	env, err := environment(in)
	if err != nil {
		return nil, err
	}
	envFrom, err := applyConfiguration[[]*corev1ac.EnvFromSourceApplyConfiguration](
		"spec.workload.overrides.envFrom", user.EnvFrom)
	if err != nil {
		return nil, err
	}
	resources, err := resources(in)
	if err != nil {
		return nil, err
	}
	port := Port(spec)
	container := corev1ac.Container().
		WithName(names.ServerContainer(in.Stack.Annotations)).
		WithImage(in.Image).
		WithCommand(command(in)...).
		WithArgs(arguments(in)...).
		WithPorts(corev1ac.ContainerPort().
			WithName(names.PortName).WithContainerPort(port).WithProtocol(corev1.ProtocolTCP)).
		WithEnv(env...).
		WithEnvFrom(envFrom...).
		WithResources(resources).
		WithVolumeMounts(mounts...).
		WithSecurityContext(containerSecurity(in)).
		WithStartupProbe(startupProbe(in)).
		WithReadinessProbe(readinessProbe(in)).
		WithLivenessProbe(livenessProbe(port))
	if user.ImagePullPolicy != "" {
		container.WithImagePullPolicy(user.ImagePullPolicy)
	}
	return container, nil
}

// arguments are the user's. Without any, a server that demands TLS is told to do without.
func arguments(in Input) []string {
	user := overrides(&in.Stack.Spec)
	if len(user.Args) == 0 && len(user.Command) == 0 && in.Server.Insecure && !in.Launcher {
		return []string{insecureArgument}
	}
	return user.Args
}

// resources are the user's, whole; else a request that places the pod sensibly and limits nothing. A stack of v1alpha1
// has that for each of the two that it does not request itself: Kubernetes would request the whole limit.
func resources(in Input) (*corev1ac.ResourceRequirementsApplyConfiguration, error) {
	usual := UsualRequests(&in.Stack.Spec)
	given := workload(&in.Stack.Spec).Resources
	if given == nil {
		return corev1ac.ResourceRequirements().WithRequests(usual), nil
	}
	if compat(in) {
		given = given.DeepCopy()
		given.Requests = requested(given, usual)
	}
	return applyConfiguration[*corev1ac.ResourceRequirementsApplyConfiguration]("spec.workload.resources", given)
}

// UsualRequests are those of a stack that says nothing about resources.
func UsualRequests(spec *v1alpha2.LlamaStackDistributionSpec) corev1.ResourceList {
	return corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewQuantity(int64(Workers(spec)), resource.DecimalSI),
		corev1.ResourceMemory: resource.MustParse(defaultMemory),
	}
}

// requested adds what is not requested and does not break the limit.
func requested(given *corev1.ResourceRequirements, usual corev1.ResourceList) corev1.ResourceList {
	for name, quantity := range usual {
		if limit, ok := given.Limits[name]; ok && limit.Cmp(quantity) < 0 {
			delete(usual, name)
		}
	}
	maps.Copy(usual, given.Requests)
	return usual
}
