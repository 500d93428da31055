//go:build server

package boot

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// programAt and configAt are indexes in the part of a container's command before the image's entrypoint, and
// wrapperWords is the number of words in this part. It consists of a shell, its script, the program that updates the
// registry, and the program's arguments.
const (
	programAt    = 3
	configAt     = 4
	wrapperWords = 5
)

// becomes is a shell script that runs the command of an init container, and then replaces itself with the program in
// the remaining arguments.
const becomes = `/bin/sh -c "$0" "$1" "$2"; shift 2; exec "$@"`

// wrapperOf returns the beginning of a command that first updates the registry, as the pod does, and then runs the
// server's command, which the caller appends. The paths are paths on this machine. The result is empty if the pod does
// not update the registry.
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

// program returns the first words of a command, which run the program that updates the registry. It replaces the paths
// in these words with paths on this machine. It returns nil if the command does not run this program.
func (p *pod) program(command []string) []string {
	if len(command) < wrapperWords || command[programAt] != names.StartupDir+"/"+names.RegistryProgram {
		return nil
	}
	words := slices.Clone(command[:wrapperWords])
	words[programAt], words[configAt] = p.local(words[programAt]), p.local(words[configAt])
	return words
}

// annotation returns the value of a variable that refers to an annotation of the pod.
func annotation(t *testing.T, variable corev1.EnvVar, annotations map[string]string) string {
	t.Helper()
	path := variable.ValueFrom.FieldRef.FieldPath
	name, found := strings.CutPrefix(path, "metadata.annotations['")
	if !found {
		t.Fatalf("variable %s refers to %q, want an annotation", variable.Name, path)
	}
	return annotations[strings.TrimSuffix(name, "']")]
}
