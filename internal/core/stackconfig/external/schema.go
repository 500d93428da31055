package external

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/externalprovider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/expression"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/provider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/schema"
)

// kindOf returns the facts that the checks need about an external provider's type, or nil if the package has no usable
// schema.
func kindOf(found *externalprovider.Package) *provider.Type {
	t := translator{root: found.ConfigSchema, classes: map[string]*schema.Class{}, open: map[string]bool{}}
	class := t.expr(found.ConfigSchema, 0).Class
	if class == nil {
		return nil
	}
	return &provider.Type{API: found.API, Type: found.Type, Config: class}
}

// translator converts a JSON Schema, in the form that Pydantic writes for the server's own classes, to the classes
// against which the settings of providers are checked. A JSON Schema library would reject a reference to a variable in
// place of a number, accept values that the server's parser rejects, and need time that grows exponentially with the
// schema's depth. The translation omits constraints that a class cannot express, so it never rejects a value that the
// schema accepts. The server checks these constraints.
type translator struct {
	root map[string]any
	// classes are the classes of the schema's definitions, which can contain each other.
	classes map[string]*schema.Class
	// open holds the definitions that contain the schema that is being translated.
	open map[string]bool
	// count is the number of translated schemas.
	count int
}

const (
	// maxSchemas limits the number of schemas that one translation visits.
	maxSchemas = 5000
	// maxLevels limits the depth of the schemas that one translation visits.
	maxLevels = 32
)

// anything accepts every value.
var anything = &schema.Expr{Kind: schema.KindAny}

// basics maps the names of JSON Schema's simple types to the kinds of the server's types.
var basics = map[string]schema.Kind{
	"string": schema.KindStr, "integer": schema.KindInt, "number": schema.KindFloat, "boolean": schema.KindBool,
	"null": schema.KindNull,
}

func (t *translator) expr(of any, depth int) *schema.Expr {
	s, ok := of.(map[string]any)
	if t.count++; !ok || depth > maxLevels || t.count > maxSchemas {
		return anything
	}
	if name, ok := s["$ref"].(string); ok {
		return t.reference(name, depth)
	}
	if all, ok := s["allOf"].([]any); ok {
		if len(all) != 1 {
			return anything
		}
		return t.expr(all[0], depth+1)
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		if members, ok := s[key].([]any); ok {
			return t.union(members, depth)
		}
	}
	if value, ok := s["const"]; ok {
		return literal([]any{value})
	}
	if values, ok := s["enum"].([]any); ok {
		return literal(values)
	}
	return t.typed(s, depth)
}

// reference translates a reference to one of the schema's own definitions.
func (t *translator) reference(name string, depth int) *schema.Expr {
	if class, ok := t.classes[name]; ok {
		return &schema.Expr{Kind: schema.KindClass, Class: class}
	}
	definition := t.definition(name)
	if definition == nil || t.open[name] {
		return anything
	}
	t.open[name] = true
	defer delete(t.open, name)
	if _, isClass := definition["properties"].(map[string]any); isClass && isObject(definition) {
		class := schema.NewClass(name, extra(definition), nil)
		t.classes[name] = class
		class.SetKeys(t.keys(definition, depth))
		return &schema.Expr{Kind: schema.KindClass, Class: class}
	}
	return t.expr(definition, depth+1)
}

// definition returns the definition for a reference such as #/$defs/Retry, or nil for any other reference.
func (t *translator) definition(name string) map[string]any {
	parts := strings.Split(name, "/")
	if len(parts) != 3 || parts[0] != "#" {
		return nil
	}
	section, _ := t.root[parts[1]].(map[string]any)
	found, _ := section[parts[2]].(map[string]any)
	return found
}

// union translates a choice of several types. If several of them are classes, lists or mappings, the result accepts
// every value, because otherwise the time for a check would grow exponentially with the depth of the value.
func (t *translator) union(members []any, depth int) *schema.Expr {
	var args []*schema.Expr
	deep := 0
	for _, member := range members {
		e := t.expr(member, depth+1)
		switch e.Kind {
		case schema.KindAny:
			return anything
		case schema.KindUnion:
			args = append(args, e.Args...)
		default:
			args = append(args, e)
		}
	}
	for _, e := range args {
		if slices.Contains([]schema.Kind{schema.KindClass, schema.KindList, schema.KindDict}, e.Kind) {
			deep++
		}
	}
	switch {
	case len(args) == 0 || deep > 1:
		return anything
	case len(args) == 1:
		return args[0]
	}
	return &schema.Expr{Kind: schema.KindUnion, Args: args}
}

// literal translates a choice of several values.
func literal(values []any) *schema.Expr {
	e, nullable := &schema.Expr{Kind: schema.KindLiteral}, false
	for _, value := range values {
		switch value := value.(type) {
		case nil:
			nullable = true
		case string, bool, int:
			e.Values = append(e.Values, fmt.Sprint(value))
		default:
			return anything
		}
	}
	switch null := (&schema.Expr{Kind: schema.KindNull}); {
	case !nullable && len(e.Values) == 0:
		return anything
	case !nullable:
		return e
	case len(e.Values) == 0:
		return null
	default:
		return &schema.Expr{Kind: schema.KindUnion, Args: []*schema.Expr{e, null}}
	}
}

// typed translates a schema with one or several types.
func (t *translator) typed(s map[string]any, depth int) *schema.Expr {
	if types, ok := s["type"].([]any); ok {
		var members []any
		for _, name := range types {
			one := maps.Clone(s)
			one["type"] = name
			members = append(members, one)
		}
		return t.union(members, depth)
	}
	name, _ := s["type"].(string)
	if kind, ok := basics[name]; ok {
		if kind == schema.KindStr && isSecret(s) {
			kind = schema.KindSecret
		}
		return &schema.Expr{Kind: kind}
	}
	switch {
	case name == "array":
		return t.list(s, depth)
	case isObject(s):
		return t.object(s, depth)
	default:
		return anything
	}
}

func isObject(s map[string]any) bool {
	_, hasProperties := s["properties"]
	return s["type"] == "object" || s["type"] == nil && hasProperties
}

func isSecret(s map[string]any) bool { return s["writeOnly"] == true || s["format"] == "password" }

func (t *translator) list(s map[string]any, depth int) *schema.Expr {
	e := &schema.Expr{Kind: schema.KindList}
	if items, ok := s["items"]; ok && s["prefixItems"] == nil {
		e.Args = []*schema.Expr{t.expr(items, depth+1)}
	}
	return e
}

func (t *translator) object(s map[string]any, depth int) *schema.Expr {
	if _, hasKeys := s["properties"].(map[string]any); !hasKeys {
		e := &schema.Expr{Kind: schema.KindDict}
		if values, ok := s["additionalProperties"].(map[string]any); ok && s["patternProperties"] == nil {
			e.Args = []*schema.Expr{anything, t.expr(values, depth+1)}
		}
		return e
	}
	class := schema.NewClass("config", extra(s), nil)
	class.SetKeys(t.keys(s, depth))
	return &schema.Expr{Kind: schema.KindClass, Class: class}
}

// extra returns the handling of keys that are not properties. With patternProperties, the class allows such keys.
// Otherwise, it rejects them only if additionalProperties is false, and ignores them if additionalProperties is not
// set.
func extra(s map[string]any) schema.Extra {
	switch allowed, given := s["additionalProperties"]; {
	case s["patternProperties"] != nil:
		return schema.ExtraAllow
	case !given:
		return schema.ExtraIgnore
	case allowed == false:
		return schema.ExtraForbid
	default:
		return schema.ExtraAllow
	}
}

// keys translates the properties of an object, sorted by name, and then the required keys that are not properties.
func (t *translator) keys(s map[string]any, depth int) []schema.Key {
	properties, _ := s["properties"].(map[string]any)
	required, _ := s["required"].([]any)
	keys := make([]schema.Key, 0, len(properties))
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		key := schema.Key{Name: name, Type: t.expr(properties[name], depth+1), Required: slices.Contains(required, any(name))}
		if property, ok := properties[name].(map[string]any); ok {
			key.Deprecated, key.Limits = property["deprecated"] == true, limits(property)
		}
		key.Secret = isSecretType(key.Type)
		keys = append(keys, key)
	}
	for _, name := range required {
		if name, ok := name.(string); ok && properties[name] == nil {
			keys = append(keys, schema.Key{Name: name, Type: anything, Required: true})
		}
	}
	return keys
}

func isSecretType(e *schema.Expr) bool {
	return e.Kind == schema.KindSecret || e.Kind == schema.KindUnion && slices.ContainsFunc(e.Args, isSecretType)
}

// limits returns the limits of a property. If the property can also be null, limits returns the limits of its other
// type.
func limits(s map[string]any) *schema.Limits {
	if members, ok := s["anyOf"].([]any); ok {
		members = slices.DeleteFunc(slices.Clone(members), isNull)
		if len(members) != 1 {
			return nil
		}
		s, _ = members[0].(map[string]any)
	}
	found := schema.Limits{
		AtLeast: number(s["minimum"]), Above: number(s["exclusiveMinimum"]), AtMost: number(s["maximum"]),
		Below: number(s["exclusiveMaximum"]),
	}
	switch s["type"] {
	case "string":
		found.MinLength, found.MaxLength, found.Pattern = length(s["minLength"]), length(s["maxLength"]),
			pattern(s["pattern"])
	case "array":
		found.MinLength, found.MaxLength = length(s["minItems"]), length(s["maxItems"])
	case "integer", "number":
	default:
		return nil
	}
	return &found
}

func isNull(member any) bool {
	s, ok := member.(map[string]any)
	return ok && s["type"] == "null"
}

func number(value any) *float64 {
	switch n := value.(type) {
	case int:
		f := float64(n)
		return &f
	case float64:
		return &n
	default:
		return nil
	}
}

func length(value any) *int {
	if n, ok := value.(int); ok {
		return &n
	}
	return nil
}

// pattern returns a regular expression, or an empty string if package expression does not compile it.
func pattern(value any) string {
	text, _ := value.(string)
	if _, ok := expression.Compile(text); !ok {
		return ""
	}
	return text
}
