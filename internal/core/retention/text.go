package retention

import (
	"net/url"
	"path"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
)

// resolve replaces the variables in a string with their values, as the server does. A reference to a variable without a
// value remains unchanged, unless it has a default or an alternative.
func (p *Pod) resolve(text string) string {
	return envref.Server.Replace(text, p.value, nil)
}

// value returns the text that replaces a reference.
func (p *Pod) value(reference envref.Reference) string {
	value := p.Env[reference.Name]
	switch {
	case reference.Operator == envref.Alternative && value != "":
		return reference.Text
	case reference.Operator == envref.Alternative:
		return ""
	case value != "":
		return value
	case reference.Operator == envref.Default:
		return reference.Text
	default:
		return reference.String()
	}
}

// These are the forms of paths that are not absolute. A path in an unknown home directory begins with inHome, and a
// path in the working directory begins with inWorking. While a path is resolved, it contains homeMark instead of an
// unknown home directory.
const (
	inHome    = "~/"
	inWorking = "./"
	homeMark  = "\x00"
)

// file returns the path of the file that the server opens for a value in its configuration. The server expands a ~ at
// the start of the value of a variable. It expands a ~ at the start of the whole text only for some types of providers
// and backends, and otherwise opens a directory with this name in its working directory (server fact 78).
func (p *Pod) file(text string, expands bool) string {
	resolved := envref.Server.Replace(text, func(found envref.Reference) string { return p.expanded(p.value(found)) }, nil)
	if expands {
		resolved = p.expanded(resolved)
	}
	resolved, _, _ = strings.Cut(resolved, "?")
	switch {
	case resolved == "", strings.HasPrefix(resolved, ":"), strings.HasPrefix(resolved, "file:"):
		return short(resolved) // a database in memory, or a URI
	case strings.HasPrefix(resolved, homeMark):
		return short(path.Join("~", resolved[len(homeMark):]))
	case path.IsAbs(resolved), strings.HasPrefix(resolved, "{"), strings.HasPrefix(resolved, "$"):
		return short(path.Clean(strings.ReplaceAll(resolved, homeMark, "~")))
	default:
		return short(inWorking + path.Clean(strings.ReplaceAll(resolved, homeMark, "~")))
	}
}

// expanded replaces a ~ at the start of a value with the home directory, or with homeMark if it is unknown.
func (p *Pod) expanded(value string) string {
	if value != "~" && !strings.HasPrefix(value, inHome) {
		return value
	}
	if home := p.Env["HOME"]; path.IsAbs(home) {
		return strings.TrimSuffix(home, "/") + value[1:]
	}
	return homeMark + value[1:]
}

// written returns the text in the configuration if it has variables and differs from the resolved text, and ""
// otherwise.
func written(text, resolved string) string {
	if text == resolved || !envref.IsMeant(text) {
		return ""
	}
	return short(text)
}

// withoutUser returns an address without the text up to its last @. That text may contain a password.
func withoutUser(text string) string {
	return text[strings.LastIndexByte(text, '@')+1:]
}

// host returns the host name in a value. The value may contain a user and a password before the host name.
func (p *Pod) host(text string) string { return short(withoutUser(p.resolve(withoutUser(text)))) }

// address returns a URL, or host:port, without the user, the password, the query and the fragment.
func (p *Pod) address(text string) string {
	resolved := p.resolve(text)
	if strings.HasPrefix(resolved, "{") {
		return resolved // The text is a reference to a Secret.
	}
	parsed, err := url.Parse(resolved)
	if err != nil || parsed.Host == "" {
		plain, _, _ := strings.Cut(withoutUser(resolved), "?")
		return short(plain)
	}
	parsed.User, parsed.RawQuery, parsed.Fragment = nil, "", ""
	return short(parsed.String())
}

// connection returns the host:port/database part of a connection URL. It does not change a reference to a Secret. For
// any other string, it returns Hidden, because the string may contain a password anywhere.
func (p *Pod) connection(text string) string {
	resolved := p.resolve(text)
	if strings.HasPrefix(resolved, "{Secret ") && strings.HasSuffix(resolved, "}") {
		return resolved
	}
	parsed, err := url.Parse(resolved)
	if err != nil || parsed.Host == "" {
		return Hidden
	}
	return short(parsed.Host + parsed.Path)
}

// variableIn returns the first variable in a string, or an empty string if there is none.
func variableIn(text string) string {
	found, _ := envref.Server.First(text)
	return found.Name
}

func text(mapping *yaml.Node, key string) string { return yamlnode.Text(mapping, key) }
