package change

import (
	"regexp"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/credential"
)

// hidden replaces a credential.
const hidden = "***"

var (
	// userInfo is the password in an address.
	userInfo = regexp.MustCompile(`(://[^/\s:@]*:)([^@/\s]+)(@)`)
	// bearer is a credential in a header.
	bearer = regexp.MustCompile(`(?i)\b((?:bearer|basic)\s+)([^\s"'$]+)`)
	// known are credentials that their first characters identify.
	known = regexp.MustCompile(`\b(?:(?:sk|pk|rk|nvapi|glpat|tvly|pplx|csk|xox[abeoprs])-|(?:gsk|hf|r8|tgp|gh[opsru]|` +
		`github_pat)_|dapi|AKIA|ASIA|AIza|sha256~|eyJ)[A-Za-z0-9._-]{10,}`)
	// option is a credential in a command line, or in a query.
	option = regexp.MustCompile(`(?i)([a-z0-9_-]*(?:password|passwd|secret|token|api[-_]?key)=)([^\s&"'$]+)`)
	// segment is the key that a path leads to. list is the key of a list in a path.
	segment = regexp.MustCompile(`([A-Za-z0-9_-]+)$`)
	list    = regexp.MustCompile(`([A-Za-z0-9_-]+)\[`)
	// variable is the value of a variable of a container.
	variable = regexp.MustCompile(`\benv\[([^\]]+)\]\.value$`)
	upper    = regexp.MustCompile(`([a-z0-9])([A-Z])`)
)

// Redact returns a value for display. Credentials in clear text are replaced. The path is the place of the value: a key
// such as api_key, or a variable with such a name, marks the whole value as a credential. References to variables stay,
// without their defaults.
func Redact(path, value string) string {
	if value == "" {
		return value
	}
	if isSecret(path) {
		if !envref.In(value) {
			return hidden
		}
		return withoutDefaults(value)
	}
	return redactText(value)
}

// redactText replaces credentials that their form identifies.
func redactText(value string) string {
	value = userInfo.ReplaceAllStringFunc(value, func(match string) string {
		if envref.IsMeant(match) {
			return match
		}
		return userInfo.ReplaceAllString(match, "${1}"+hidden+"${3}")
	})
	for _, pattern := range []*regexp.Regexp{bearer, option} {
		value = pattern.ReplaceAllString(value, "${1}"+hidden)
	}
	return known.ReplaceAllString(value, hidden)
}

// isSecret reports whether the key at a path holds only a credential.
func isSecret(path string) bool {
	if match := variable.FindStringSubmatch(path); match != nil {
		return isKey(match[1])
	}
	match := segment.FindStringSubmatch(path)
	return match != nil && isKey(match[1]) || secretList(path) >= 0
}

// secretList returns where the first list of credentials in a path ends its key, or -1. The entries of a list of texts
// are identified by the texts themselves.
func secretList(path string) int {
	for _, match := range list.FindAllStringSubmatchIndex(path, -1) {
		if isKey(path[match[2]:match[3]]) {
			return match[3]
		}
	}
	return -1
}

// RedactPath returns a path for display.
func RedactPath(path string) string {
	if end := secretList(path); end >= 0 {
		return path[:end] + "[" + hidden + "]"
	}
	return redactText(path)
}

func isKey(key string) bool {
	return credential.IsKey(upper.ReplaceAllString(key, "${1}_${2}")) || strings.EqualFold(key, "authorization")
}

// withoutDefaults replaces the defaults of variables, and the text around them.
func withoutDefaults(value string) string {
	return envref.Server.Replace(value, func(reference envref.Reference) string {
		if reference.Text != "" {
			reference.Text = hidden
		}
		return reference.String()
	}, func(literal string) string {
		if strings.TrimSpace(literal) == "" {
			return literal
		}
		return hidden
	})
}

// redactBoth returns both values for display. Two values that differ stay different.
func redactBoth(path, from, to string) (before, after string) {
	before, after = Redact(path, from), Redact(path, to)
	if before == after && from != to {
		return before + " (before)", after + " (after)"
	}
	return before, after
}
