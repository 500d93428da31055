package render

import (
	"regexp"
	"strings"

	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

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

// reference is a variable in the server's configuration: ${env.NAME}, ${env.NAME:=default}, ${env.NAME:+value}.
var reference = regexp.MustCompile(`\$\{env\.([A-Z0-9_]+)(?::([=+])([^}]*))?\}`)

// shellText is a path of the server's configuration for a shell, within double quotes. Both know the same three forms of
// a reference, and take an empty variable for an unset one.
func shellText(path string) string {
	var b strings.Builder
	rest := path
	for {
		found := reference.FindStringSubmatchIndex(rest)
		if found == nil {
			b.WriteString(shellLiteral(rest))
			return b.String()
		}
		b.WriteString(shellLiteral(rest[:found[0]]))
		b.WriteString("${" + rest[found[2]:found[3]])
		if found[4] >= 0 {
			operator := map[string]string{"=": ":-", "+": ":+"}[rest[found[4]:found[5]]]
			b.WriteString(operator + shellLiteral(rest[found[6]:found[7]]))
		}
		b.WriteString("}")
		rest = rest[found[1]:]
	}
}

// shellLiteral escapes what a shell reads within double quotes. A leading ~ is the server's home.
func shellLiteral(text string) string {
	home := ""
	if text == "~" || strings.HasPrefix(text, "~/") {
		home, text = "${HOME}", text[1:]
	}
	return home + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(text)
}
