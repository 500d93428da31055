package draft

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/secretvalue"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
)

// IsSet reports whether a variable is certainly set in the server's container.
func (d *Draft) IsSet(name string) bool {
	switch name {
	case names.EnvModelCache, names.EnvConfig, names.EnvRunConfig, names.EnvPort, names.EnvWorkers,
		d.Release.Runtime.PortVariable, d.Release.Runtime.FactoryVariable:
		return true
	}
	if _, set := slices.BinarySearch(d.Intent.Variables, name); set {
		return true
	}
	return d.set[name] || slices.ContainsFunc(d.Intent.SecretEnv, func(v intent.Variable) bool { return v.Name == name })
}

// StartupText returns the known text that the server reads in place of a string with a reference: the default, the
// alternative or, for a variable that has a default and is set, a reference that represents any value. It returns false
// when the string refers to no variable, to several variables, or to a variable with neither a default nor an
// alternative.
func (d *Draft) StartupText(node *yaml.Node) (string, bool) {
	if node.Kind != yaml.ScalarNode || !envref.IsMeant(node.Value) {
		return "", false
	}
	all := slices.Collect(envref.Lookalike.All(node.Value))
	if len(all) != 1 || all[0].Operator == "" || !all[0].Replaced() {
		return "", false
	}
	text := all[0].Text
	switch set, isDefault := d.IsSet(all[0].Name), all[0].Operator == envref.Default; {
	case isDefault && set:
		text = envref.To(all[0].Name)
	case !isDefault && !set:
		text = ""
	}
	return strings.Replace(node.Value, all[0].String(), text, 1), true
}

// Converted returns a string as the server converts it after a substitution: an empty string becomes null, and a string
// in the form of a boolean or a number becomes a boolean or a number (server fact 5).
func Converted(text string) *yaml.Node {
	switch {
	case text == "":
		return yamlnode.Null()
	case strings.EqualFold(text, "true") || strings.EqualFold(text, "false"):
		return yamlnode.Bool(strings.EqualFold(text, "true"))
	case secretvalue.IsInteger(strings.TrimSpace(text)):
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: strings.TrimSpace(text)}
	case secretvalue.IsFloat(strings.TrimSpace(text)):
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!float", Value: strings.TrimSpace(text)}
	default:
		return yamlnode.String(text)
	}
}

// Met reports whether a condition in the base is met.
func (d *Draft) Met(variable string) bool {
	if variable == "" {
		return true
	}
	_, set := slices.BinarySearch(d.Intent.Variables, variable)
	return set
}
