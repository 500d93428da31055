package provider

import (
	"encoding/json"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/schema"
)

// stringNode returns a string as a YAML node that both YAML 1.1 and 1.2 readers take as that string.
func stringNode(value string) *yaml.Node {
	node := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value}
	switch {
	case strings.Contains(value, "\n"):
		node.Style = yaml.LiteralStyle
	case !schema.IsPlainString(value):
		node.Style = yaml.DoubleQuotedStyle
	}
	return node
}

// scalarNode returns null, a boolean or a number as a YAML node.
func scalarNode(value any) *yaml.Node {
	node := &yaml.Node{Kind: yaml.ScalarNode}
	switch v := value.(type) {
	case bool:
		node.Tag, node.Value = "!!bool", "false"
		if v {
			node.Value = "true"
		}
	case json.Number:
		node.Tag, node.Value = "!!int", v.String()
		if strings.ContainsAny(node.Value, ".eE") {
			node.Tag, node.Value = "!!float", floatText(node.Value)
		}
	default:
		node.Tag, node.Value = "!!null", "null"
	}
	return node
}

// floatText writes a JSON number so that a YAML 1.1 reader takes it as a number too: 1.0e+16 for 1e16.
func floatText(number string) string {
	mantissa, exponent, ok := strings.Cut(strings.ToLower(number), "e")
	if !strings.Contains(mantissa, ".") {
		mantissa += ".0"
	}
	if !ok {
		return mantissa
	}
	if exponent[0] != '-' && exponent[0] != '+' {
		exponent = "+" + exponent
	}
	return mantissa + "e" + exponent
}
