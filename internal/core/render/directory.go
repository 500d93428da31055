package render

import (
	"strings"

	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// directoryContainer returns a container that creates directories. It has the image, environment, volumes and user of
// the server's container.
func directoryContainer(
	directories []string, server *corev1ac.ContainerApplyConfiguration,
) *corev1ac.ContainerApplyConfiguration {
	script := make([]string, 0, len(directories))
	for _, directory := range directories {
		script = append(script, `mkdir -p "`+shellText(directory)+`"`)
	}
	return likeServer(server, names.DirectoryContainer, shell(strings.Join(script, " && ")))
}

// shellText returns a path in the server's configuration as shell text for use in double quotes. The configuration and
// the shell support the same three forms of references to variables, and treat an empty variable as unset.
func shellText(path string) string { return envref.Server.Replace(path, shellReference, shellLiteral) }

func shellReference(reference envref.Reference) string {
	operator := strings.Replace(reference.Operator, envref.Default, ":-", 1)
	return "${" + reference.Name + operator + shellLiteral(reference.Text) + "}"
}

// shellLiteral escapes the characters that a shell interprets in double quotes. A leading ~ means the server's home
// directory.
func shellLiteral(text string) string {
	home := ""
	if text == "~" || strings.HasPrefix(text, "~/") {
		home, text = "${HOME}", text[1:]
	}
	return home + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(text)
}
