package redact

import (
	"regexp"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/credential"
)

var (
	// segment matches the last key of a path. list matches the key of a list in a path.
	segment = regexp.MustCompile(`([A-Za-z0-9_-]+)$`)
	list    = regexp.MustCompile(`([A-Za-z0-9_-]+)\[`)
	// plainDefault matches a reference to a variable whose default is not secret, regardless of the name of the key.
	plainDefault = regexp.MustCompile(`^\$\{env\.[A-Za-z0-9_]+:=([0-9]{1,6}|true|false)?\}$`)
	// variable matches the path to the value of a container's environment variable.
	variable = regexp.MustCompile(`\benv\[([^\]]+)\]\.value$`)
)

// Value returns a value without its secrets. The parameter path is the path of the value in a configuration or an
// object. Value replaces the whole value of a key such as api_key, or of a variable with such a name. It keeps
// references to variables, without their defaults.
func Value(path, value string) string {
	switch {
	case value == "":
		return value
	case !isSecret(path, value):
		return Text(value)
	case envref.In(value):
		return withoutDefaults(value)
	default:
		return Mark
	}
}

// Path returns a path without its secrets. A path can contain a secret, because it identifies an entry of a list of
// strings by the string itself.
func Path(path string) string {
	if end := secretList(path); end >= 0 {
		return path[:end] + "[" + Mark + "]"
	}
	return Text(path)
}

// isSecret reports whether the value at a path is a credential. If the name of a key is ambiguous (for example,
// max_tokens), a number or a boolean is not a credential.
func isSecret(path, value string) bool {
	match := variable.FindStringSubmatch(path)
	if match == nil {
		match = segment.FindStringSubmatch(path)
	}
	if secretList(path) >= 0 || match != nil && credential.IsKey(snake(match[1])) {
		return true
	}
	return match != nil && IsKey(match[1]) && !isPlain(value) && !plainDefault.MatchString(value)
}

// secretList returns the position after the key of the first credential list in a path, or -1 if there is none.
func secretList(path string) int {
	for _, match := range list.FindAllStringSubmatchIndex(path, -1) {
		if credential.IsKey(snake(path[match[2]:match[3]])) {
			return match[3]
		}
	}
	return -1
}

// withoutDefaults replaces the defaults of variables, and the text around the references to variables.
func withoutDefaults(value string) string {
	return envref.Server.Replace(value, func(reference envref.Reference) string {
		if reference.Text != "" {
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
