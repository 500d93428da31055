package render

import (
	"strconv"

	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
)

// Registry describes how the pods bring the server's registry in line with the configuration before the server starts.
type Registry struct {
	// Earlier is where operators before this one kept the registry of today's resources, see stackconfig.Registry.
	Earlier string
	// Namespace is the registry's in a store that several stacks may use. Empty: the store is a file of the stack's own.
	Namespace string
	// Start is the image's entrypoint with its arguments. Nil: nobody knows it, and an init container does the work,
	// which does not run again when only the server's container restarts.
	Start []string
	// Files are the program and its data, by name.
	Files map[string]string
}

// startupScript brings the registry in line and becomes the server. The server starts whatever becomes of the program:
// where the registry does not fit, the server itself says why.
const startupScript = `python=$(command -v python || command -v python3) && ` +
	`"$python" "$0" --config "$1" --earlier "$2"
shift 2
exec "$@"
`

// registryScript is the same for an init container.
const registryScript = `python=$(command -v python || command -v python3) && ` +
	`"$python" "$0" --config "$1" --earlier "$2"
exit 0
`

// startup holds what runs before the server starts. Its content is no part of the pod template, so that a newer program
// restarts no pod.
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

// startsAnything reports whether a program of the operator's runs before the server starts.
func startsAnything(in Input) bool { return in.Registry != nil || hasExternal(in) }

func startupVolume(in Input) *corev1ac.VolumeApplyConfiguration {
	return corev1ac.Volume().WithName(names.StartupVolume).WithConfigMap(corev1ac.ConfigMapVolumeSource().
		WithName(names.Startup(in.Stack.Name)))
}

// startsWrapped reports whether the server's container runs the program itself.
func startsWrapped(in Input) bool {
	return in.Registry != nil && len(in.Registry.Start) > 0 && len(overrides(&in.Stack.Spec).Command) == 0
}

// registryArguments are those of both scripts, the program first.
func registryArguments(in Input) []string {
	return []string{names.StartupDir + "/" + names.RegistryProgram, names.ConfigPath, in.Registry.Earlier}
}

func shell(script string, arguments ...string) []string {
	return append([]string{"/bin/sh", "-c", script}, arguments...)
}

// registryContainer brings the registry in line with what the server's container has: image, environment, volumes, user
// and resources.
func registryContainer(in Input, server *corev1ac.ContainerApplyConfiguration) *corev1ac.ContainerApplyConfiguration {
	return beside(server, names.RegistryContainer, shell(registryScript, registryArguments(in)...))
}

// beside is a container that runs a command with all that the server's container has.
func beside(server *corev1ac.ContainerApplyConfiguration, name string, command []string) *corev1ac.ContainerApplyConfiguration {
	container := *server
	container.Command = command
	container.Args, container.Ports = nil, nil
	container.StartupProbe, container.ReadinessProbe, container.LivenessProbe = nil, nil, nil
	return container.WithName(name)
}

// generation is the value of the annotation with the stack's generation; empty for a stack that is no object of a
// cluster.
func generation(in Input) string {
	if in.Registry == nil || in.Stack.UID == "" {
		return ""
	}
	return string(in.Stack.UID) + "/" + strconv.FormatInt(in.Stack.Generation, 10)
}
