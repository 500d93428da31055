package render

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// insecureArgument makes a server that requires TLS serve plain HTTP.
const insecureArgument = "--insecure"

// defaultMemory is the memory request when the user sets no resources.
const defaultMemory = "1Gi"

// serverContainer returns the server's container. It runs the image's entrypoint, which reads the environment and adds
// instrumentation (server fact 38). A command would replace the entrypoint, so the container has a command only if it
// needs one (see command).
func serverContainer(
	in Input, mounts []*corev1ac.VolumeMountApplyConfiguration,
) (*corev1ac.ContainerApplyConfiguration, error) {
	resources, err := resources(in)
	if err != nil {
		return nil, err
	}
	port := Port(&in.Stack.Spec)
	container := corev1ac.Container().
		WithName(names.ServerContainer(in.Stack.Annotations)).
		WithImage(in.Image).
		WithCommand(command(in)...).
		WithArgs(arguments(in)...).
		WithPorts(corev1ac.ContainerPort().
			WithName(names.PortName).WithContainerPort(port).WithProtocol(corev1.ProtocolTCP)).
		WithResources(resources).
		WithVolumeMounts(mounts...).
		WithSecurityContext(containerSecurity(in)).
		WithStartupProbe(startupProbe(in)).
		WithReadinessProbe(health(in).WithPeriodSeconds(readinessPeriod).WithFailureThreshold(readinessFailures)).
		WithLivenessProbe(livenessProbe(port))
	setPullPolicy(container, intent.Overrides(&in.Stack.Spec).ImagePullPolicy)
	return container, setEnvironment(in, container)
}

// setPullPolicy sets the pull policy of a container's image, unless the given policy is empty.
func setPullPolicy(container *corev1ac.ContainerApplyConfiguration, policy corev1.PullPolicy) {
	if policy != "" {
		container.WithImagePullPolicy(policy)
	}
}

// arguments returns the user's arguments. If the user sets neither arguments nor a command, and the server otherwise
// requires TLS, the image's entrypoint gets the argument for plain HTTP (server fact 29).
func arguments(in Input) []string {
	user := intent.Overrides(&in.Stack.Spec)
	if len(user.Args) == 0 && len(user.Command) == 0 && in.Server.Insecure && !in.Launcher {
		return []string{insecureArgument}
	}
	return user.Args
}

// resources returns the user's resources unchanged. If the spec sets no resources, it returns the usual requests, which
// help the scheduler, and no limits. If the spec of a v1alpha1 stack sets resources, the function adds each missing
// usual request that does not exceed the limit for the same resource. Kubernetes would otherwise request the whole
// limit.
func resources(in Input) (*corev1ac.ResourceRequirementsApplyConfiguration, error) {
	usual := UsualRequests(&in.Stack.Spec)
	given := workload(&in.Stack.Spec).Resources
	if given == nil {
		return corev1ac.ResourceRequirements().WithRequests(usual), nil
	}
	if of(in).CompletesRequests {
		given = given.DeepCopy()
		given.Requests = requested(given, usual)
	}
	return applyConfiguration[*corev1ac.ResourceRequirementsApplyConfiguration]("spec.workload.resources", given)
}

// UsualRequests returns the requests for a stack whose spec sets no resources.
func UsualRequests(spec *v1alpha2.LlamaStackDistributionSpec) corev1.ResourceList {
	return corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewQuantity(int64(Workers(spec)), resource.DecimalSI),
		corev1.ResourceMemory: resource.MustParse(defaultMemory),
	}
}

// requested returns the given requests, and each usual request that is missing and does not exceed the given limit.
func requested(given *corev1.ResourceRequirements, usual corev1.ResourceList) corev1.ResourceList {
	for name, quantity := range usual {
		if limit, ok := given.Limits[name]; ok && limit.Cmp(quantity) < 0 {
			delete(usual, name)
		}
	}
	maps.Copy(usual, given.Requests)
	return usual
}
