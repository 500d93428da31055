package check

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/draft"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
)

// withVariables returns a value as the server reads it when only the variables in the spec are set. With envFrom, not
// all variables are known, and withVariables returns the value unchanged.
func (c *checker) withVariables(node *yaml.Node) *yaml.Node {
	if node == nil || c.Intent.MoreVariables || !c.readsVariables(node) {
		return node
	}
	read := yamlnode.Clone(node)
	c.substitute(read)
	return read
}

// readsVariables reports whether a value contains text that withVariables would replace.
func (c *checker) readsVariables(node *yaml.Node) bool {
	if _, replaced := c.StartupText(node); replaced {
		return true
	}
	return slices.ContainsFunc(node.Content, c.readsVariables)
}

// substitute replaces scalars with their values at startup. It replaces whole nodes, because a copy shares its scalars
// with the original.
func (c *checker) substitute(node *yaml.Node) {
	for i, item := range node.Content {
		switch text, replaced := c.StartupText(item); {
		case node.Kind == yaml.MappingNode && i%2 == 0:
		case replaced:
			node.Content[i] = draft.Converted(text)
		default:
			c.substitute(item)
		}
	}
}

// unsetNote returns a note that names the unset variable that causes a finding, or an empty string when there is none.
func (c *checker) unsetNote(path string) string {
	node := c.NodeAt(path)
	if node == nil {
		return ""
	}
	if _, replaced := c.StartupText(node); !replaced {
		return ""
	}
	found, _ := envref.Lookalike.First(node.Value)
	if c.IsSet(found.Name) {
		return ""
	}
	return fmt.Sprintf("; the value refers to the variable %s, which is not set; set the variable in spec.secretEnv or spec.workload.overrides.env", found.Name)
}

// variables reports each variable that nothing sets and that has no default. The server does not start with such a
// variable in any string, even in a provider that no variable enables. variables skips providers with the ID
// draft.DisabledID.
func (c *checker) variables() {
	// Both the image and envFrom can set the variables of a base in the user's own image.
	if !c.Intent.MoreVariables || c.Published || c.own != nil {
		c.variablesOf(c.Root, nil)
	}
}

// misspelled reports text that was meant as a reference to a variable, and that the server does not replace (server
// fact 4).
func misspelled(node *yaml.Node, path *yamlnode.Path, warn func(path, message string)) {
	at := path.Below()
	switch node.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			misspelled(node.Content[i+1], at.Key(node.Content[i].Value), warn)
		}
	case yaml.SequenceNode:
		for i, item := range node.Content {
			misspelled(item, at.Item(i), warn)
		}
	default:
		for _, found := range envref.FindMisspelled(node.Value) {
			warn(path.String(), fmt.Sprintf("the server does not replace %q; write %q", found.Written, found.Right))
		}
	}
}

// unsetIn returns those variables in a string that nothing sets and for which the string has no default.
func (c *checker) unsetIn(text string) []string {
	var names []string
	for found := range envref.Lookalike.All(text) {
		if found.Operator == "" && found.Replaced() && !c.IsSet(found.Name) &&
			!slices.Contains(runtimeVariables, found.Name) {
			names = append(names, found.Name)
		}
	}
	return names
}

// runtimeVariables are the variables that the runtime and the kubelet set in every container.
var runtimeVariables = []string{"HOME", "HOSTNAME", "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT", "PATH"}

func (c *checker) variablesOf(node *yaml.Node, path *yamlnode.Path) {
	at := path.Below()
	switch node.Kind {
	case yaml.MappingNode:
		if yamlnode.Text(node, "provider_id") == draft.DisabledID {
			return
		}
		for i := 0; i+1 < len(node.Content); i += 2 {
			c.variablesOf(node.Content[i+1], at.Key(node.Content[i].Value))
		}
	case yaml.SequenceNode:
		for i, item := range node.Content {
			c.variablesOf(item, at.Item(i))
		}
	default:
		c.variablesOfText(node.Value, path)
	}
}

func (c *checker) variablesOfText(text string, place *yamlnode.Path) {
	for _, name := range c.unsetIn(text) {
		path := place.String()
		remedy := "set it in spec.secretEnv or spec.workload.overrides.env"
		if c.OriginAt(path).Path != nil || c.own != nil {
			remedy += fmt.Sprintf(", or give it a default, ${env.%s:=…}", name)
		}
		if source := c.otherSource(name); source != "" {
			c.warnAt(path, fmt.Sprintf("nothing in the spec sets the variable %s; if %s does not set it either, the server does not start: %s",
				name, source, remedy))
			continue
		}
		c.failAt(path, func() string {
			return fmt.Sprintf("the variable %s is not set, and the server does not start without it: %s", name, remedy)
		})
	}
}

// otherSource returns the source outside the spec that can set a variable, or an empty string if there is none.
func (c *checker) otherSource(name string) string {
	switch {
	case isServiceLink(name) && (strings.HasPrefix(name, "KUBERNETES_") || c.own != nil && c.own.ServiceLinks):
		return "a Service"
	case !c.Published:
		return "the image"
	case c.Intent.MoreVariables:
		return "a source in spec.workload.overrides.envFrom"
	default:
		return ""
	}
}

// isServiceLink reports whether the kubelet can set a variable for a Service.
func isServiceLink(name string) bool {
	return strings.HasSuffix(name, "_PORT") || strings.Contains(name, "_SERVICE_") || strings.Contains(name, "_PORT_")
}
