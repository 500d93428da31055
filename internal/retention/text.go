package retention

import (
	"net/url"
	"path"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/yamlnode"
)

// resolve replaces the variables in a string with their values, as the server does. A reference to a variable without a
// value remains unchanged, unless it has a default or an alternative.
func (p *Pod) resolve(text string) string {
	return envref.Server.Replace(text, func(reference envref.Reference) string {
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
	}, nil)
}

// file returns the path of the file that the server opens for a value in its configuration.
func (p *Pod) file(text string) string {
	resolved, _, _ := strings.Cut(p.resolve(text), "?")
	if home := p.Env["HOME"]; strings.HasPrefix(resolved, "~/") && strings.HasPrefix(home, "/") {
		return short(path.Join(home, resolved[2:]))
	}
	if strings.HasPrefix(resolved, "~/") {
		return short("~/" + path.Clean(resolved[2:]))
	}
	if resolved == "" {
		return ""
	}
	return short(path.Clean(resolved))
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
