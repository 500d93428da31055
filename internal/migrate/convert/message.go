package convert

import (
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha1"
	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/typecheck"
)

// Warnings returns warnings about the settings in `older` that have no effect in the hub. The parameter `older` is a
// v1alpha1 object, which Warnings does not change.
func Warnings(older map[string]any) []string {
	autoscaling := fields(lookup(older, olderAutoscaling))
	if autoscaling == nil || positive(autoscaling["maxReplicas"]) {
		return nil
	}
	return []string{strings.Join(olderAutoscaling, ".") +
		".maxReplicas: a value below 1 disables autoscaling; remove autoscaling, or set 1 or more"}
}

// hubField matches a field of the spec in a message, with the character before it. The prefix `spec.` is optional if
// the name is unambiguous. An API group such as networking.k8s.io does not match.
var hubField = regexp.MustCompile(`(^|[^.\w])(spec\.[A-Za-z]+|` +
	`(?:overrideConfig|baseConfig|secretEnv|removeSettings|workload\.[a-z][A-Za-z]+|networking\.(?:port|tls|expose|allowedFrom))\b)` +
	`((?:\.[A-Za-z]+)*)((?:\[[^\]]*\](?:\.[A-Za-z]+)*)*)(` + ofHub + `)?`)

// ofHub is the text that OlderPaths adds after the name of a field that v1alpha1 does not have.
const ofHub = " of v1alpha2"

// OlderPaths replaces the field names in a message about a hub object with v1alpha1 field names, and marks fields
// without a counterpart as v1alpha2 fields. It does not change a message that it has already converted.
func OlderPaths(text string) string {
	return hubField.ReplaceAllStringFunc(text, func(found string) string {
		parts := hubField.FindStringSubmatch(found)
		before, name, inside := parts[1], parts[2]+parts[3], parts[4]
		full := "spec." + strings.TrimPrefix(name, "spec.")
		if parts[5] != "" || !hasField(reflect.TypeFor[v1alpha2.LlamaStackDistribution](), split(full)) {
			// The name is already marked, or is a field of another kind, as in the API server's messages about a Deployment.
			return found
		}
		older, ok := olderPath(split(full))
		switch named := strings.Join(older, "."); {
		case !ok:
			return found + ofHub
		case strings.HasPrefix(name, "spec."):
			return before + named + inside
		default:
			return before + strings.TrimPrefix(named, "spec.") + inside
		}
	})
}

// named contains the fields for which OlderPaths looks for a counterpart: the fields that both versions have, and those
// that correspond to a part of a field in the other version.
var named = slices.Concat(shared, []field{
	{older: olderExpose, hub: hubExpose},
	{older: olderUserConfig, hub: split("spec.overrideConfig")},
	{older: split("spec.server.userConfig.configMapName"), hub: split("spec.overrideConfig.key")},
	{older: olderAutoscaling, hub: split("spec.workload.autoscaling")},
	{older: split("spec.server.tlsConfig.caBundle"), hub: split("spec.networking.tls.caBundle")},
	{older: split("spec.server.podOverrides"), hub: split("spec.workload.overrides")},
	{older: split("spec.server.storage"), hub: split("spec.storage")},
})

// olderPath replaces the longest known field at the start of a path with the v1alpha1 field, and reports whether
// v1alpha1 has this field.
func olderPath(p path) (path, bool) {
	from, to := longest(p, toOlderVersion)
	if len(from) <= 1 && len(p) > 1 {
		return p, false
	}
	older := slices.Concat(to, p[len(from):])
	return older, hasField(reflect.TypeFor[v1alpha1.LlamaStackDistribution](), older)
}

// hasField reports whether a type has the field at a path. It returns true below a value that is neither a struct nor a
// boolean, and below a struct without known fields.
func hasField(typ reflect.Type, p path) bool {
	for _, name := range p {
		for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice {
			typ = typ.Elem()
		}
		if typ.Kind() != reflect.Struct {
			return typ.Kind() != reflect.Bool
		}
		known := typecheck.FieldsOf(typ)
		inner, ok := known[name]
		if !ok {
			return len(known) == 0
		}
		typ = inner
	}
	return true
}
