package main

import (
	"maps"
	"slices"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha1"
	"github.com/llamastack/llama-stack-k8s-operator/hack/internal/shapes"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
)

// These are the names of definitions in the schema of a version.
const (
	secretReference = "secretReference"
	oneProvider     = "provider"
)

// secretForm is the form of a secret reference, for messages.
const secretForm = "{secretKeyRef: {name: <Secret>, key: <key>}}"

// typeOf returns the Go type of a field with more than one shape, or an empty string for a field without a known type.
func typeOf(path []string) string {
	last := path[len(path)-1]
	parent := path[max(0, len(path)-2)]
	switch {
	case parent == "providers":
		return shapes.Providers
	case last == "expose":
		return shapes.Expose
	case last != "[]":
		return ""
	}
	return map[string]string{"models": shapes.ModelEntry, "tools": shapes.ToolEntry, "shields": shapes.ShieldEntry}[parent]
}

// shape writes the schema of a field with more than one shape. The result is one schema with several types. Each
// keyword applies only to one of the types, so editors report a mistake in an object at the key that contains the
// mistake. With oneOf, editors would report only that no alternative matches.
func (c *converter) shape(to object, path []string) {
	name := typeOf(path)
	fields, ok := c.fields[name]
	if !ok {
		c.unknown = strings.Join(path, ".")
		return
	}
	c.definitions[secretReference] = secretSchema()
	if name == shapes.Providers {
		c.definitions[oneProvider] = providerSchema(fields, c.version)
		to["type"] = []any{"object", "array", "null"}
		to["allOf"] = []any{ref(oneProvider)}
		to["minItems"], to["maxItems"] = 1, intent.MaxProviders
		to["items"] = object{"type": "object", "allOf": []any{ref(oneProvider)}}
		to["if"] = object{"type": "array", "minItems": 2}
		to["then"] = object{"items": object{"required": []any{"id"}}}
		to["errorMessage"] = "Write one provider ({provider: <type>, …}) or a list of providers."
		return
	}
	maps.Copy(to, objectSchema(fields))
	keys := "an object. Its keys are " + strings.Join(namesOf(fields), ", ") + "."
	if name == shapes.Expose {
		to["errorMessage"] = "Write true, false, or " + keys
		to["type"] = []any{"boolean", "object", "null"}
		return
	}
	to["errorMessage"] = "Write a name, or " + keys
	to["type"], to["minLength"] = []any{"string", "object"}, 1
}

// namesOf returns the names of fields, sorted.
func namesOf(fields []shapes.Field) []string {
	names := make([]string, len(fields))
	for i, field := range fields {
		names[i] = field.Name
	}
	slices.Sort(names)
	return names
}

// objectSchema returns the keywords for an object with the given fields, except the keyword type.
func objectSchema(fields []shapes.Field) object {
	properties := object{}
	var required []any
	for _, field := range fields {
		properties[field.Name] = fieldSchema(field)
		if field.Required {
			required = append(required, field.Name)
		}
	}
	schema := object{"properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		schema["required"] = required
	}
	return schema
}

// older returns the keys that only a v1alpha1 provider has.
func older() object {
	text := func(description string) object {
		return object{"anyOf": []any{object{"type": "string"}, ref(secretReference)}, "description": description}
	}
	return object{
		"config":         object{"type": "object", "description": "config is the v1alpha1 name of the field settings. The keys in settings take precedence."},
		"region":         text("region sets the region in the provider's configuration."),
		"deploymentName": text("deploymentName sets the key deployment_name. The server ignores this key."),
	}
}

func providerSchema(fields []shapes.Field, version string) object {
	schema := objectSchema(fields)
	properties := schema["properties"].(object)
	id := properties["id"].(object)
	id["pattern"], id["maxLength"] = intent.IDForm, intent.IDMaxLength
	id["patternErrorMessage"] = "The value is not a valid ID: use letters, digits, \"-\", \"_\" and \".\", " +
		"and begin and end with a letter or digit."
	if version == v1alpha1.GroupVersion.Version {
		maps.Copy(properties, older())
	}
	names := slices.Sorted(maps.Keys(properties))
	schema["additionalProperties"] = object{
		"description": "A key of the provider's configuration, with its value in a Secret. " +
			"This is the short form of secretRefs.",
		"errorMessage": "This is not a field of a provider. The fields are " + strings.Join(names, ", ") +
			". Put a key of the provider's configuration below settings, or write " + secretForm + ".",
		"type": []any{"object"}, // Editors use errorMessage only if type is a list.
		"if":   object{"type": "object"}, "then": ref(secretReference),
	}
	schema["maxProperties"] = intent.MaxProviderFields
	return schema
}

func fieldSchema(field shapes.Field) object {
	schema := object{}
	switch field.Kind {
	case shapes.Text:
		schema["type"], schema["minLength"] = "string", 1
	case shapes.Boolean:
		schema["type"] = "boolean"
	case shapes.Integer:
		schema["type"], schema["minimum"] = "integer", 1
	case shapes.Object:
		schema["type"] = "object"
	case shapes.Texts:
		schema["type"], schema["additionalProperties"] = "object", object{"type": "string"}
		schema["maxProperties"] = intent.MaxAnnotations
	case shapes.Secret:
		schema = ref(secretReference)
	case shapes.SecretMap:
		schema["type"], schema["additionalProperties"] = "object", ref(secretReference)
		schema["propertyNames"] = object{"minLength": 1}
		schema["minProperties"], schema["maxProperties"] = 1, intent.MaxProviderFields
	}
	schema["description"] = describeField(field.Doc)
	return schema
}

// secretSchema returns the schema of a secret reference inside a field with more than one shape.
func secretSchema() object {
	text := func(pattern, description, message string) object {
		return object{
			"type": "string", "minLength": 1, "maxLength": 253, "pattern": pattern,
			"description": description, "patternErrorMessage": message,
		}
	}
	return object{
		"type":                 "object",
		"description":          "A value in a Secret: " + secretForm + ".",
		"errorMessage":         "Write " + secretForm + ".",
		"additionalProperties": false,
		"required":             []any{"secretKeyRef"},
		"properties": object{"secretKeyRef": object{
			"type":                 "object",
			"description":          "secretKeyRef names the Secret and its key.",
			"errorMessage":         "Write " + secretForm + ".",
			"additionalProperties": false,
			"required":             []any{"name", "key"},
			"properties": object{
				"name": text("^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
					"name is the name of the Secret.", "The value is not a valid Secret name: use "+
						"lowercase letters, digits, \"-\" and \".\", and begin and end with a letter or digit."),
				"key": text("^[-._a-zA-Z0-9]+$", "key is the key in the Secret's data.",
					"The value is not a valid key of a Secret: use at most 253 letters, digits, \"-\", \"_\" and \".\"."),
			},
		}},
	}
}

func ref(definition string) object { return object{"$ref": "#/definitions/" + definition} }
