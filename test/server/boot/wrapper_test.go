//go:build server

package boot

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
)

// These are indexes in the part of a container's command before the image's entrypoint. This part is a shell, its
// script, the program that updates the registry, and the program's arguments.
const (
	programAt    = 3
	configAt     = 4
	wrapperWords = 6
)

// becomes runs the command of an init container, and then replaces itself with the program after it.
const becomes = `/bin/sh -c "$0" "$1" "$2" "$3"; shift 3; exec "$@"`

// wrapperOf returns the part of a pod's command that runs before its server, with paths of this machine. The command of
// the server follows it. It is empty if the pod does not run a program before the server.
func (p *pod) wrapperOf(init []corev1.Container, command []string) []string {
	if words := p.program(command); words != nil {
		return words
	}
	for _, container := range init {
		if words := p.program(container.Command); words != nil {
			return append([]string{"/bin/sh", "-c", becomes}, words[programAt-1:]...)
		}
	}
	return nil
}

// program returns the beginning of a command that runs the program.
func (p *pod) program(command []string) []string {
	if len(command) < wrapperWords || command[programAt] != names.StartupDir+"/"+names.RegistryProgram {
		return nil
	}
	words := slices.Clone(command[:wrapperWords])
	words[programAt], words[configAt] = p.local(words[programAt]), p.local(words[configAt])
	return words
}

// annotation returns the value of a variable that comes from an annotation of the pod.
func annotation(t *testing.T, variable corev1.EnvVar, annotations map[string]string) string {
	t.Helper()
	path := variable.ValueFrom.FieldRef.FieldPath
	name, found := strings.CutPrefix(path, "metadata.annotations['")
	if !found {
		t.Fatalf("variable %s comes from %q, want an annotation", variable.Name, path)
	}
	return annotations[strings.TrimSuffix(name, "']")]
}
