package redact

import (
	"regexp"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/envref"
)

// Setting returns the part of a value in a configuration that is shown. The parameter path is the path of the value;
// identities identify the entries of a list, for example providers.inference[vllm].config.url.
func Setting(path, value string) string {
	at, _ := settingAt(path)
	if isNoText(value) {
		return value
	}
	return walker{}.text(at, value)
}

// isNoText reports whether a value of a configuration cannot be a credential.
func isNoText(value string) bool {
	return value == "true" || value == "false" || value == "null" || value == "none" || value == "{}" || value == "[]"
}

// SettingPath returns the path of a value in a configuration without its secrets. A path can contain a secret, because
// it identifies an entry of a list of strings by the string itself.
func SettingPath(path string) string {
	_, shown := settingAt(path)
	return shown
}

// step matches a key or an entry of a list in a path.
var step = regexp.MustCompile(`\.?([^.\[\]]+)|\[([^\]]*)\]|.`)

// position matches the position of an entry in a list.
var position = regexp.MustCompile(`^[0-9]{1,4}$`)

// settingAt returns the place of a value in a configuration, and its path without secrets.
func settingAt(path string) (Place, string) {
	at := configRoot
	var shown strings.Builder
	steps := step.FindAllStringSubmatch(path, -1)
	for i, match := range steps {
		switch {
		case match[1] != "":
			at = at.At(match[1])
			shown.WriteString(match[0])
		case match[2] == "":
			shown.WriteString(match[0])
		case at.form == inner && i < len(steps)-1 || position.MatchString(match[2]):
			shown.WriteString("[" + Text(match[2]) + "]")
		default:
			shown.WriteString("[" + walker{}.text(at, match[2]) + "]")
		}
	}
	return at, Text(shown.String())
}

// withoutDefaults replaces the defaults of variables, and the text around the references to variables.
func withoutDefaults(value string) string {
	return envref.Server.Replace(value, func(reference envref.Reference) string {
		if reference.Text != "" && !isNoText(strings.ToLower(reference.Text)) {
			reference.Text = Mark
		}
		return reference.String()
	}, func(literal string) string {
		if strings.TrimSpace(literal) == "" {
			return literal
		}
		return Mark
	})
}
