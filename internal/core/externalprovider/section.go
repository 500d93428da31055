package externalprovider

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/baseconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
)

const (
	// maxText is the maximum length of a string in a metadata file, in bytes.
	maxText = 512
	// maxWheels limits the number of wheels in a package.
	maxWheels = 256
	// maxShown is the maximum length of a string in an error, in bytes.
	maxShown = 128
)

// form is the required form of a string, with the error and the remedy for any other string.
type form struct {
	pattern *regexp.Regexp
	remedy  string
}

var (
	module = &form{
		regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$`),
		"is not the name of a Python module; use a name like my_org.custom_vllm",
	}
	providerType = &form{
		regexp.MustCompile(`^(remote|inline)(::[A-Za-z0-9][A-Za-z0-9._-]*)+$`),
		"is not a provider type; use remote:: or inline:: and a name, like remote::custom-vllm",
	}
	api = &form{
		regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`),
		"is not the name of a server API; use a name like inference or vector_io",
	}
)

// section is a mapping in a metadata file. All sections of a file share one problem, the first that is found.
type section struct {
	node    *yaml.Node
	path    string
	problem *error
}

// fail records a problem with a field.
func (s section) fail(key string, at *yaml.Node, format string, args ...any) {
	if *s.problem == nil {
		line := s.node.Line
		if at != nil {
			line = at.Line
		}
		*s.problem = fmt.Errorf("line %d: %s%s "+format, append([]any{line, s.path, key}, args...)...)
	}
}

// section returns a mapping below this one. If the mapping does not exist, section records the problem and returns an
// empty section.
func (s section) section(key string) section {
	node := yamlnode.Get(s.node, key)
	if node == nil || node.Kind != yaml.MappingNode {
		s.fail(key, node, "must be a mapping")
		node = &yaml.Node{Kind: yaml.MappingNode}
	}
	return section{node: node, path: s.path + key + ".", problem: s.problem}
}

// must checks that a field has a given value.
func (s section) must(key, want string) {
	if found := s.text(key, nil); found != want {
		s.fail(key, yamlnode.Get(s.node, key), "is %q, but must be %s", shorten(found), want)
	}
}

// text returns the string in a required field.
func (s section) text(key string, form *form) string {
	node := yamlnode.Get(s.node, key)
	if yamlnode.IsNull(node) {
		s.fail(key, node, "is missing")
		return ""
	}
	text, problem := textOf(node)
	switch {
	case problem != "":
		s.fail(key, node, "%s", problem)
	case form != nil && !form.pattern.MatchString(text):
		s.fail(key, node, "is %q, which %s", shorten(text), form.remedy)
	}
	return text
}

// textOf returns the string in a node, or the problem with it.
func textOf(node *yaml.Node) (text, problem string) {
	switch {
	case node.Kind != yaml.ScalarNode || yamlnode.IsNull(node):
		return "", "must be a string, got " + baseconfig.KindOf(node)
	case node.Value == "":
		return "", "must not be empty"
	case len(node.Value) > maxText:
		return "", fmt.Sprintf("has %d bytes, but at most %d are allowed; shorten the value", len(node.Value), maxText)
	}
	return node.Value, ""
}

// wheel returns the path of a wheel, or an empty string if there is none.
func (s section) wheel(key string) string {
	node := yamlnode.Get(s.node, key)
	if yamlnode.IsNull(node) {
		return ""
	}
	return s.wheelPath(key, node)
}

// wheels returns the paths of the wheels in a list.
func (s section) wheels(key string) []string {
	node := yamlnode.Get(s.node, key)
	switch {
	case yamlnode.IsNull(node):
		return nil
	case node.Kind != yaml.SequenceNode:
		s.fail(key, node, "must be a list, got %s", baseconfig.KindOf(node))
		return nil
	case len(node.Content) > maxWheels:
		s.fail(key, node, "has %d entries, but at most %d are allowed; remove some", len(node.Content), maxWheels)
		return nil
	}
	var paths []string
	for i, item := range node.Content {
		paths = append(paths, s.wheelPath(fmt.Sprintf("%s[%d]", key, i), item))
	}
	return paths
}

// wheelPath returns a path below the package's directory, relative to this directory.
func (s section) wheelPath(key string, node *yaml.Node) string {
	text, problem := textOf(node)
	if problem != "" {
		s.fail(key, node, "%s", problem)
		return ""
	}
	below := path.Clean(strings.TrimPrefix(text, Directory+"/"))
	if path.IsAbs(below) || below == ".." || strings.HasPrefix(below, "../") || path.Ext(below) != ".whl" {
		s.fail(key, node, "is %q, which %w", shorten(text), errOutside)
		return ""
	}
	return below
}

// object returns a mapping as decoded JSON, or nil if there is none.
func (s section) object(key string) map[string]any {
	node := yamlnode.Get(s.node, key)
	if yamlnode.IsNull(node) {
		return nil
	}
	if node.Kind != yaml.MappingNode {
		s.fail(key, node, "must be a mapping, got %s", baseconfig.KindOf(node))
		return nil
	}
	value, _ := plain(node).(map[string]any)
	return value
}

// plain returns a node as decoded JSON. Every key, and every value without a JSON equivalent, becomes a string.
func plain(node *yaml.Node) any {
	switch node.Kind {
	case yaml.MappingNode:
		object := make(map[string]any, len(node.Content)/2)
		for i := 0; i+1 < len(node.Content); i += 2 {
			object[node.Content[i].Value] = plain(node.Content[i+1])
		}
		return object
	case yaml.SequenceNode:
		list := make([]any, 0, len(node.Content))
		for _, item := range node.Content {
			list = append(list, plain(item))
		}
		return list
	default:
		return scalar(node)
	}
}

func scalar(node *yaml.Node) any {
	var value any
	if node.Decode(&value) != nil {
		return node.Value
	}
	switch value.(type) {
	case nil, bool, int, float64, string:
		return value
	default:
		return node.Value
	}
}

// shorten returns at most maxShown bytes of a string, for a message.
func shorten(text string) string {
	if len(text) <= maxShown {
		return text
	}
	return strings.ToValidUTF8(text[:maxShown], "") + "…"
}
