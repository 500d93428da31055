package render

import (
	"strconv"

	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// Registry describes how the pods update the server's registry to match the configuration before the server starts.
type Registry struct {
	// Namespace is the namespace of the registry in a store that several stacks can use. Empty means that the store is the
	// stack's own file.
	Namespace string
	// Start is the image's entrypoint with its arguments. Nil means that the entrypoint is unknown. In this case, an init
	// container updates the registry. It does not run again when only the server's container restarts.
	Start []string
	// Files contains the program that updates the registry, and the program's data, by file name.
	Files map[string]string
}

// startupScript updates the registry and then replaces itself with the server. The server starts even if the update
// fails. If the registry does not match the configuration, the server itself reports the reason.
const startupScript = `python=$(command -v python || command -v python3) && ` +
	`"$python" "$0" --config "$1"
shift
exec "$@"
`

// registryScript updates the registry in an init container.
const registryScript = `python=$(command -v python || command -v python3) && ` +
	`"$python" "$0" --config "$1"
exit 0
`

// registryProgram is the path of the program that updates the registry.
const registryProgram = names.StartupDir + "/" + names.RegistryProgram

// startup returns the ConfigMap with the programs that run before the server starts. The contents of the ConfigMap are
// not part of the pod template, so a newer program does not restart any pod.
func startup(in Input) (*corev1ac.ConfigMapApplyConfiguration, error) {
	if !startsAnything(in) {
		return nil, nil
	}
	result := owned(in, corev1ac.ConfigMap, names.Startup(in.Stack.Name))
	if in.Registry != nil {
		result.WithData(in.Registry.Files)
	}
	if hasExternal(in) {
		result.WithData(in.ExternalFiles)
	}
	return result, nil
}

// startsAnything reports whether one of the operator's programs runs before the server starts.
func startsAnything(in Input) bool { return in.Registry != nil || hasExternal(in) }

func startupVolume(in Input) *corev1ac.VolumeApplyConfiguration {
	return corev1ac.Volume().WithName(names.StartupVolume).WithConfigMap(corev1ac.ConfigMapVolumeSource().
		WithName(names.Startup(in.Stack.Name)))
}

// startsWrapped reports whether the server's container, and not an init container, runs the program that updates the
// registry.
func startsWrapped(in Input) bool {
	return in.Registry != nil && len(in.Registry.Start) > 0 && len(intent.Overrides(&in.Stack.Spec).Command) == 0
}

func shell(script string, arguments ...string) []string {
	return append([]string{"/bin/sh", "-c", script}, arguments...)
}

// registryContainer returns a container that updates the registry. It has the image, environment, volumes, user and
// resources of the server's container.
func registryContainer(server *corev1ac.ContainerApplyConfiguration) *corev1ac.ContainerApplyConfiguration {
	return likeServer(server, names.RegistryContainer, shell(registryScript, registryProgram, names.ConfigPath))
}

// likeServer returns a container that runs a command with the settings of the server's container, except for its
// arguments, ports and probes.
func likeServer(
	server *corev1ac.ContainerApplyConfiguration, name string, command []string,
) *corev1ac.ContainerApplyConfiguration {
	container := *server
	container.Command = command
	container.Args, container.Ports = nil, nil
	container.StartupProbe, container.ReadinessProbe, container.LivenessProbe = nil, nil, nil
	return container.WithName(name)
}

// generation returns the value of the annotation with the stack's generation, or an empty string if the pods do not
// update the registry, or if the stack is not an object in a cluster.
func generation(in Input) string {
	if in.Registry == nil || in.Stack.UID == "" {
		return ""
	}
	return string(in.Stack.UID) + "/" + strconv.FormatInt(in.Stack.Generation, 10)
}
