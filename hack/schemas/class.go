package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/schema"
)

// classes holds the definitions of a release's configuration classes.
type classes struct{ definitions object }

// environment matches a string that contains ${env.…}. The server determines the type of such a value when it starts.
// The other constants are the names of the definitions for values that the server's parser converts.
const (
	environment = `\$\{env\.`
	looseBool   = "boolean"
	looseInt    = "integer"
	looseFloat  = "number"
	looseURL    = "url"
)

var loose = object{
	looseBool: object{
		"type": []any{"boolean", "integer", "string"}, "minimum": 0, "maximum": 1,
		"pattern": `^(0|1|[fF]|[tT]|[nN]|[yY]|[oO][nN]|[oO][fF][fF]|[nN][oO]|[yY][eE][sS]|` +
			`[tT][rR][uU][eE]|[fF][aA][lL][sS][eE])$|` + environment,
		"patternErrorMessage": "Write true or false.", "errorMessage": "Write true or false.",
	},
	looseInt: object{
		"type": []any{"integer", "boolean", "string"}, "pattern": `^\s*[-+]?[0-9]+(_[0-9]+)*(\.0*)?\s*$|` + environment,
		"patternErrorMessage": "Write a whole number.", "errorMessage": "Write a whole number.",
	},
	looseFloat: object{
		"type": []any{"number", "boolean", "string"},
		"pattern": `^\s*[-+]?([0-9][0-9_]*\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?\s*$|` +
			`^\s*[-+]?([iI][nN][fF]([iI][nN][iI][tT][yY])?|[nN][aA][nN])\s*$|` + environment,
		"patternErrorMessage": "Write a number.", "errorMessage": "Write a number.",
	},
	looseURL: object{
		"type": "string", "pattern": `^\s*[hH][tT][tT][pP][sS]?:|` + environment,
		"patternErrorMessage": "Write a URL that begins with http:// or https://.",
	},
}

// name adds the definition of a class if it is missing, and returns its name. The definition applies only to objects.
func (c *classes) name(class *schema.Class) string {
	if _, ok := c.definitions[class.Name]; ok {
		return class.Name
	}
	properties := object{}
	definition := object{"properties": properties}
	// The definition is added before its keys, because classes can refer to each other.
	c.definitions[class.Name] = definition
	for i := range class.Keys {
		key := &class.Keys[i]
		for _, name := range append([]string{key.Name}, key.Aliases...) {
			properties[name] = c.key(key)
		}
	}
	if class.Extra != schema.ExtraAllow {
		definition["additionalProperties"] = false
		definition["errorMessage"] = "The server does not have this key."
	}
	return class.Name
}

// secrets adds the definition of secretRefs for a class, and returns its name.
func (c *classes) secrets(class *schema.Class) string {
	name := class.Name + ".secretRefs"
	properties := object{}
	for _, key := range keysOf(class) {
		properties[key] = true
	}
	c.definitions[name] = object{"properties": properties}
	if class.Extra != schema.ExtraAllow {
		c.definitions[name] = object{
			"properties": properties, "additionalProperties": false, "errorMessage": "The provider does not have this key.",
		}
	}
	return name
}

func (c *classes) key(key *schema.Key) object {
	if key.Internal {
		return object{"doNotSuggest": true}
	}
	value := c.value(key.Type)
	if len(value) == 1 && value["$ref"] != nil && key.Limits != nil {
		value = object{"allOf": []any{value}}
	}
	limit(value, key)
	value["description"] = describe(key)
	if key.Deprecated {
		value["deprecationMessage"] = "This key is deprecated in the server."
	}
	return value
}

// describe returns the description of a key: its type, its default, the source of the default, and whether the key is
// required or is a credential.
func describe(key *schema.Key) string {
	words := key.Type.Words()
	text := strings.ToUpper(words[:1]) + words[1:] + "."
	switch value, err := json.Marshal(key.Default); {
	case key.Required:
		text += " The server requires this key."
	case err == nil && key.Default != nil && len(value) < 60:
		text += " Defaults to " + string(value) + "."
	}
	if len(key.DefaultVariables) > 0 {
		text += " If the key is unset, the server reads " + strings.Join(key.DefaultVariables, " or ") + "."
	}
	if key.Secret {
		text += " This key is a credential. Use apiKey or secretRefs."
	}
	return text
}

// value returns the schema of a type.
func (c *classes) value(expr *schema.Expr) object {
	switch expr.Kind {
	case schema.KindAny:
		return object{}
	case schema.KindNull:
		return object{"type": "null"}
	case schema.KindBool:
		return c.loose(looseBool)
	case schema.KindInt:
		return c.loose(looseInt)
	case schema.KindFloat:
		return c.loose(looseFloat)
	case schema.KindURL:
		return c.loose(looseURL)
	case schema.KindStr, schema.KindSecret, schema.KindPath:
		return object{"type": "string"}
	case schema.KindLiteral:
		reference := object{"type": "string", "pattern": environment}
		return object{"anyOf": []any{object{"enum": literals(expr.Values)}, reference}}
	case schema.KindList:
		list := object{"type": "array"}
		if len(expr.Args) == 1 {
			list["items"] = c.value(expr.Args[0])
		}
		return list
	case schema.KindDict:
		dict := object{"type": "object"}
		if len(expr.Args) == 2 {
			dict["additionalProperties"] = c.value(expr.Args[1])
		}
		return dict
	case schema.KindClass:
		if expr.Class == nil {
			return object{"type": "object"}
		}
		return c.nested(expr.Class)
	case schema.KindUnion:
		return c.union(expr)
	}
	panic(fmt.Sprintf("the type %s has an unknown kind", expr))
}

// nested returns the schema for a value of a class. The schema lists the required keys that have no alias. The
// definition of the class lists no required keys, because other fields can set the keys of a provider.
func (c *classes) nested(class *schema.Class) object {
	value := object{"type": "object", "allOf": []any{ref(c.name(class))}}
	var required []any
	for i := range class.Keys {
		if key := &class.Keys[i]; key.Required && len(key.Aliases) == 0 {
			required = append(required, key.Name)
		}
	}
	if len(required) > 0 {
		value["required"] = required
	}
	return value
}

func (c *classes) loose(name string) object {
	c.definitions[name] = loose[name]
	return ref(name)
}

// union returns the schema of a union. If the union has one member in addition to null, and the member's schema has a
// type, the result is that schema with null as an additional type. Editors then report a mistake at the key that
// contains the mistake.
func (c *classes) union(expr *schema.Expr) object {
	isNull := func(member *schema.Expr) bool { return member.Kind == schema.KindNull }
	members := slices.DeleteFunc(slices.Clone(expr.Args), isNull)
	null := len(members) < len(expr.Args)
	if len(members) == 1 {
		value := c.value(members[0])
		if typ, ok := value["type"].(string); ok && null {
			value["type"] = []any{typ, "null"}
			return value
		}
	}
	var all []any
	for _, member := range expr.Args {
		all = append(all, c.value(member))
	}
	return object{"anyOf": all}
}

// literals returns the values of a literal, each as a string. If YAML reads a value as a number or boolean, literals
// also returns this number or boolean.
func literals(values []string) []any {
	all := texts(values)
	for _, value := range values {
		var other any
		if json.Unmarshal([]byte(value), &other) == nil && other != nil {
			if _, text := other.(string); !text {
				all = append(all, other)
			}
		}
	}
	return all
}

// limit adds a key's limits to the schema of the key's value: the limits for numbers, lists and maps. It adds no limit
// for a string, because the string can be a reference such as ${env.NAME}.
func limit(value object, key *schema.Key) {
	limits, expr := key.Limits, key.Type
	if limits == nil {
		return
	}
	set := func(keyword string, bound *float64) {
		if bound != nil {
			value[keyword] = *bound
		}
	}
	set("minimum", limits.AtLeast)
	set("maximum", limits.AtMost)
	set("exclusiveMinimum", limits.Above)
	set("exclusiveMaximum", limits.Below)
	for _, member := range append([]*schema.Expr{expr}, expr.Args...) {
		var low, high string
		switch member.Kind {
		case schema.KindList:
			low, high = "minItems", "maxItems"
		case schema.KindDict:
			low, high = "minProperties", "maxProperties"
		default:
			continue
		}
		if limits.MinLength != nil {
			value[low] = *limits.MinLength
		}
		if limits.MaxLength != nil {
			value[high] = *limits.MaxLength
		}
		if expr.Kind != schema.KindUnion {
			break
		}
	}
}
