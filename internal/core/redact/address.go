package redact

import (
	"regexp"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/envref"
)

var (
	// usual matches a host with an optional port and path, or a path. stand is a character that stands for a reference.
	usual = regexp.MustCompile(`^(\[[0-9A-Fa-f:.]+\]|[\w.~*` + stand + `-]*)(:[\w` + stand + `]+)?(/[^?#@=;,"'\s]*)?$`)
	// scheme matches the start of a URL.
	scheme = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*://`)
)

const (
	stand, bare = "\uE000", "\uE001"
	// longest is the maximum length in characters of an ordinary part of a URL's path. Longer parts can be tokens. The
	// token in the URL of a Slack webhook has 24 characters.
	longest = 23
)

// inAddress returns a URL, host or path without its user information, its query and the long parts of its path. It
// returns Mark for all other text. It keeps references to variables, and a default outside of the user information and
// the query if the default is an address.
func inAddress(text string) string {
	var references []envref.Reference
	text = envref.Server.Replace(strings.NewReplacer(stand, "", bare, "").Replace(text),
		func(reference envref.Reference) string {
			references = append(references, reference)
			return stand
		}, nil)
	var kept strings.Builder
	for _, r := range withoutParts(text) {
		if string(r) != stand && string(r) != bare {
			kept.WriteRune(r)
			continue
		}
		reference := references[0]
		references = references[1:]
		switch {
		case reference.Text != "" && string(r) == bare:
			reference.Text = Mark
		case reference.Text != "":
			reference.Text = inAddress(reference.Text)
		}
		kept.WriteString(reference.String())
	}
	if len(references) > 0 { // some are in the text that is not shown
		return Mark
	}
	return kept.String()
}

func withoutParts(text string) string {
	start := scheme.FindString(text)
	rest := text[len(start):]
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		start += withoutLiterals(rest[:at]) + "@"
		rest = rest[at+1:]
	}
	query := ""
	if at := strings.IndexAny(rest, "?#"); at >= 0 {
		query = rest[at:at+1] + withoutLiterals(rest[at+1:])
		rest = rest[:at]
	}
	if !usual.MatchString(rest) {
		return Mark
	}
	parts := strings.Split(rest, "/")
	for i := range parts {
		if start != "" && i > 0 && len(parts[i]) > longest && !strings.Contains(parts[i], stand) {
			parts[i] = Mark
		}
	}
	return start + strings.Join(parts, "/") + query
}

// withoutLiterals keeps only the references in user information or a query, without their defaults, and the separator
// before a password.
func withoutLiterals(text string) string {
	if !strings.Contains(text, stand) {
		return Mark
	}
	var kept strings.Builder
	for _, part := range strings.SplitAfter(text, stand) {
		literal, isReference := strings.CutSuffix(part, stand)
		if literal != "" && literal != ":" {
			literal = Mark
		}
		kept.WriteString(literal)
		if isReference {
			kept.WriteString(bare)
		}
	}
	return kept.String()
}

// hasPassword reports whether an identifier such as an image has user information in front of a host. The text before
// the digest of an image is not user information.
func hasPassword(text string) bool {
	user, host, found := strings.Cut(text, "@")
	return found && strings.Contains(user, ":") && !strings.HasPrefix(host, "sha256:")
}

// userParts returns the user and the password in a URL.
func userParts(text string) []string {
	_, rest, _ := strings.Cut(text, "://")
	at := strings.LastIndexByte(rest, '@')
	if at < 0 {
		return nil
	}
	return strings.SplitN(rest[:at], ":", 2)
}
