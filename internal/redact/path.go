package redact

import (
	"regexp"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/credential"
)

var (
	// segment is the key that a path leads to. list is the key of a list in a path.
	segment = regexp.MustCompile(`([A-Za-z0-9_-]+)$`)
	list    = regexp.MustCompile(`([A-Za-z0-9_-]+)\[`)
	// plainDefault is a reference to a variable whose default is not secret whatever the name of its key.
	plainDefault = regexp.MustCompile(`^\$\{env\.[A-Za-z0-9_]+:=([0-9]{1,6}|true|false)?\}$`)
	// variable is the value of a variable of a container.
	variable = regexp.MustCompile(`\benv\[([^\]]+)\]\.value$`)
)

// Value returns a value at a path of a configuration or an object without its secrets. A key such as api_key, or a
// variable with such a name, marks the whole value. References to variables stay, without their defaults.
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

// Path returns a path without its secrets. The entries of a list of texts are identified by the texts themselves.
func Path(path string) string {
	if end := secretList(path); end >= 0 {
		return path[:end] + "[" + Mark + "]"
	}
	return Text(path)
}

// isSecret reports whether the key at a path holds a credential. Of keys whose name is less certain, numbers and
// booleans are not secret, for example max_tokens.
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

// secretList returns where the first list of credentials in a path ends its key, or -1.
func secretList(path string) int {
	for _, match := range list.FindAllStringSubmatchIndex(path, -1) {
		if credential.IsKey(snake(path[match[2]:match[3]])) {
			return match[3]
		}
	}
	return -1
}

// withoutDefaults replaces the defaults of variables, and the text around them.
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
