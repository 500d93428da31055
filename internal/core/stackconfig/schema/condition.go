package schema

import (
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Condition requires the value Value for the key Key. Value is true or false for a boolean, and the text in the
// configuration for a string or a whole number. A list meets the condition if it contains Value.
type Condition struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// met reports whether a mapping meets every condition. A value that depends on the environment meets no condition.
func (c *Class) met(conditions []Condition, node *yaml.Node) bool {
	for _, condition := range conditions {
		value := c.valueOf(condition.Key, node)
		if value == nil {
			// If the key is absent, the condition applies to its default.
			if key, _ := c.Key(condition.Key); key.Default != condition.Value {
				return false
			}
			continue
		}
		if !condition.met(value) {
			return false
		}
	}
	return true
}

func (c Condition) met(node *yaml.Node) bool {
	switch kindOf(node) {
	case valueList:
		return slices.ContainsFunc(node.Content, c.met)
	case valueBool:
		return strconv.FormatBool(isTrue(node.Value)) == c.Value
	case valueString, valueInt:
		return node.Value == c.Value
	case valueNull, valueFloat, valueReference, valueTimestamp, valueMapping, valueUnknown:
	}
	return false
}

// together returns conditions as text, such as "mode: single and x: 1".
func together(conditions []Condition) string {
	parts := make([]string, len(conditions))
	for i, condition := range conditions {
		parts[i] = condition.Key + ": " + condition.Value
	}
	return strings.Join(parts, " and ")
}

// isTrue reads a boolean as YAML 1.1 does.
func isTrue(value string) bool {
	return slices.Contains([]string{"true", "yes", "on"}, strings.ToLower(value))
}
