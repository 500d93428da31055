package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/hack/internal/shapes"
)

// draft is the dialect of the schemas.
const draft = "http://json-schema.org/draft-07/schema#"

// ofVersion returns the schema for a version of the definition.
func ofVersion(
	crd *apiextensionsv1.CustomResourceDefinition, version *apiextensionsv1.CustomResourceDefinitionVersion,
	fields map[string][]shapes.Field,
) (object, error) {
	data, err := json.Marshal(version.Schema.OpenAPIV3Schema)
	if err != nil {
		return nil, fmt.Errorf("encode schema: %w", err)
	}
	var root object
	if err := json.Unmarshal(data, &root); err != nil {
		return nil, fmt.Errorf("decode schema: %w", err)
	}
	kind, group := crd.Spec.Names.Kind, crd.Spec.Group+"/"+version.Name
	properties := root["properties"].(object)
	c := &converter{version: version.Name, fields: fields, definitions: object{}}
	schema := object{
		"$schema":              draft,
		"title":                kind + " " + version.Name,
		"description":          root["description"],
		"type":                 "object",
		"additionalProperties": false,
		"required":             []any{"apiVersion", "kind", "metadata", "spec"},
		"properties": object{
			"apiVersion": object{"const": group, "description": "apiVersion is " + group + "."},
			"kind":       object{"const": kind, "description": "kind is " + kind + "."},
			"metadata":   metadata(),
			"spec":       c.schema(properties["spec"].(object), []string{"spec"}),
			"status": object{
				"type": "object", "description": "status is written by the operator. A manifest does not need it.",
			},
		},
	}
	if c.unknown != "" {
		return nil, fmt.Errorf("the field %s has no type and no known shape; set its type, or add its shape to "+
			"hack/schemas/shape.go", c.unknown)
	}
	share(schema, c.definitions)
	return schema, nil
}

// metadata returns the schema of an object's metadata.
func metadata() object {
	texts := func(description string) object {
		return object{"type": "object", "additionalProperties": object{"type": "string"}, "description": description}
	}
	properties := object{}
	for name := range (metav1.ObjectMeta{}).SwaggerDoc() {
		if name != "" {
			properties[name] = true
		}
	}
	properties["name"] = object{
		"type": "string", "minLength": 1, "description": "name is the name of the stack, unique in its namespace.",
	}
	properties["namespace"] = object{"type": "string", "description": "namespace is the namespace of the stack."}
	properties["labels"] = texts("labels are the labels of the stack.")
	properties["annotations"] = texts("annotations are the annotations of the stack. Quote values such as \"true\".")
	return object{
		"type":                 "object",
		"description":          "metadata is the metadata of the object: name, namespace, labels and annotations.",
		"additionalProperties": false,
		"properties":           properties,
		"anyOf":                []any{object{"required": []any{"name"}}, object{"required": []any{"generateName"}}},
	}
}

// converter converts the OpenAPI schema of the definition.
type converter struct {
	version     string
	fields      map[string][]shapes.Field
	definitions object
	// unknown is the path of a field that has neither a type nor a known shape.
	unknown string
}

// kept lists the keywords that have the same meaning in both dialects.
var kept = []string{
	"default", "description", "enum", "maxItems", "maxLength", "maxProperties", "maximum", "minItems", "minLength",
	"minProperties", "minimum", "pattern", "required",
}

// schema converts the schema of a field. path contains the names of the fields, [] for the items of a list, and {} for
// the values of a map.
func (c *converter) schema(from object, path []string) object {
	to := object{}
	for _, keyword := range kept {
		if value, ok := from[keyword]; ok {
			to[keyword] = value
		}
	}
	if text, ok := from["description"].(string); ok {
		to["description"] = describeField(text)
	}
	preserve := from["x-kubernetes-preserve-unknown-fields"] == true
	switch from["type"] {
	case nil:
		switch {
		case from["x-kubernetes-int-or-string"] == true:
			to["type"] = []any{"integer", "string"}
		case preserve:
			c.shape(to, path)
		default:
			c.unknown = strings.Join(path, ".")
		}
	case "object":
		c.object(to, from, path, preserve)
	case "array":
		to["type"] = "array"
		to["items"] = c.schema(from["items"].(object), append(slices.Clone(path), "[]"))
	default:
		to["type"] = from["type"]
	}
	if from["format"] == "int32" {
		setMissing(to, "minimum", float64(-1<<31))
		setMissing(to, "maximum", float64(1<<31-1))
	}
	if from["nullable"] == true {
		to["type"] = []any{to["type"], "null"}
	}
	addRules(to, from)
	return to
}

func (c *converter) object(to, from object, path []string, open bool) {
	to["type"] = "object"
	if properties, ok := from["properties"].(object); ok {
		converted := object{}
		for name, property := range properties {
			converted[name] = c.schema(property.(object), append(slices.Clone(path), name))
		}
		to["properties"] = converted
		if !open {
			to["additionalProperties"] = false
		}
	}
	if values, ok := from["additionalProperties"].(object); ok {
		to["additionalProperties"] = c.schema(values, append(slices.Clone(path), "{}"))
	}
}

// references matches references to requirements, such as (FR-1). Descriptions for users omit these references.
var references = regexp.MustCompile(`[ \n]?\(FR-[^)]*\)`)

// describeField returns a description for users, each paragraph on one line.
func describeField(text string) string {
	paragraphs := strings.Split(references.ReplaceAllString(text, ""), "\n\n")
	for i, paragraph := range paragraphs {
		paragraphs[i] = strings.Join(strings.Fields(paragraph), " ")
	}
	return strings.Join(paragraphs, "\n\n")
}

func setMissing(to object, key string, value any) {
	if _, ok := to[key]; !ok {
		to[key] = value
	}
}
