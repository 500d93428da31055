package retention

import (
	"net/url"
	"path"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/yamlnode"
)

// reference is a part of a text that the server replaces from its environment.
var reference = regexp.MustCompile(`\$\{env\.([A-Z0-9_]+)(?::([=+])([^}]*))?\}`)

// resolve is a text as the server reads it. A variable without a value and without a
// default stays as it is written.
func (p *Pod) resolve(text string) string {
	if !strings.Contains(text, "${env.") {
		return text
	}
	return reference.ReplaceAllStringFunc(text, func(whole string) string {
		parts := reference.FindStringSubmatch(whole)
		value := p.Env[parts[1]]
		switch parts[2] {
		case "+":
			if value == "" {
				return ""
			}
			return parts[3]
		case "=":
			if value == "" {
				return parts[3]
			}
			return value
		default:
			if value == "" {
				return whole
			}
			return value
		}
	})
}

// file is a path as the server opens it.
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

// written is what a configuration says, where that is not all there is to it.
func written(text, resolved string) string {
	if text == resolved || !strings.Contains(text, "${env.") {
		return ""
	}
	return short(text)
}

// withoutUser is an address without what stands before its host: that may hold a
// password.
func withoutUser(text string) string {
	return text[strings.LastIndexByte(text, '@')+1:]
}

// host is the name of a host, taken from a key that may hold a password before it.
func (p *Pod) host(text string) string { return short(withoutUser(p.resolve(withoutUser(text)))) }

// address is a URL, or host:port, without user, password and query.
func (p *Pod) address(text string) string {
	resolved := p.resolve(text)
	if strings.HasPrefix(resolved, "{") {
		return resolved // a reference to a Secret
	}
	parsed, err := url.Parse(resolved)
	if err != nil || parsed.Host == "" {
		plain, _, _ := strings.Cut(withoutUser(resolved), "?")
		return short(plain)
	}
	parsed.User, parsed.RawQuery, parsed.Fragment = nil, "", ""
	return short(parsed.String())
}

// connection is host:port/database of a connection string. Anything but a URL is
// Hidden: it may hold a password anywhere.
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

// variableIn is the first variable that a text names; empty without one.
func variableIn(text string) string {
	if found := reference.FindStringSubmatch(text); found != nil {
		return found[1]
	}
	return ""
}

func text(mapping *yaml.Node, key string) string { return yamlnode.Text(mapping, key) }
