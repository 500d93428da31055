package render

import (
	"strings"

	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
)

// directoryContainer makes directories with what the server's container has: image, environment, volumes, user.
func directoryContainer(
	directories []string, server *corev1ac.ContainerApplyConfiguration,
) *corev1ac.ContainerApplyConfiguration {
	script := make([]string, 0, len(directories))
	for _, directory := range directories {
		script = append(script, `mkdir -p "`+shellText(directory)+`"`)
	}
	return beside(server, names.DirectoryContainer, shell(strings.Join(script, " && ")))
}

// shellText is a path of the server's configuration for a shell, within double quotes. Both know the same three forms of
// a reference, and take an empty variable for an unset one.
func shellText(path string) string { return envref.Server.Replace(path, shellReference, shellLiteral) }

func shellReference(reference envref.Reference) string {
	operator := strings.Replace(reference.Operator, envref.Default, ":-", 1)
	return "${" + reference.Name + operator + shellLiteral(reference.Text) + "}"
}

// shellLiteral escapes what a shell reads within double quotes. A leading ~ is the server's home.
func shellLiteral(text string) string {
	home := ""
	if text == "~" || strings.HasPrefix(text, "~/") {
		home, text = "${HOME}", text[1:]
	}
	return home + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(text)
}
