package redact

import (
	"slices"
	"strings"
	"unicode"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/credential"
)

// words lists the names of keys that hold a credential, in snake case, in addition to those of package credential.
var words = []string{
	"credential", "authorization", "auth", "cookie", "bearer", "pat", "dsn", "connection_string", "passcode",
	"identitytoken", "registrytoken", // in a pull Secret
}

// IsKey reports whether a key of a configuration or an object holds one or more credentials. It also recognizes keys in
// camel case.
func IsKey(key string) bool {
	name := strings.TrimSuffix(snake(key), "s")
	return credential.IsKey(name) || credential.IsKey(snake(key)) || slices.ContainsFunc(words, func(word string) bool {
		return name == word || strings.HasSuffix(name, "_"+word)
	})
}

// snake converts a name to snake case. The name may be in camel case or kebab case, and may contain dots or spaces.
func snake(name string) string {
	var text strings.Builder
	lower := false
	for _, r := range name {
		if unicode.IsUpper(r) && lower {
			text.WriteByte('_')
		}
		lower = unicode.IsLower(r) || unicode.IsDigit(r)
		if r == '-' || r == '.' || r == ' ' {
			r = '_'
		}
		text.WriteRune(unicode.ToLower(r))
	}
	return text.String()
}
