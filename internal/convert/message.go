package convert

import (
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha1"
	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/typecheck"
)

// Warnings are sentences about what a v1alpha1 object says and does not mean in
// the hub. older is not changed.
func Warnings(older map[string]any) []string {
	autoscaling := treeOf(older).objectAt(olderAutoscaling...)
	if autoscaling == nil || positive(autoscaling.get("maxReplicas")) {
		return nil
	}
	return []string{strings.Join(olderAutoscaling, ".") +
		".maxReplicas: less than 1 is no autoscaling: remove autoscaling, or take 1 or more"}
}

// hubField is a field of the spec in a text for people, with what is before it. It may go without `spec.` where its name
// says which one it is. An API group, as networking.k8s.io, is none.
var hubField = regexp.MustCompile(`(^|[^.\w])(spec\.[A-Za-z]+|` +
	`(?:overrideConfig|baseConfig|secretEnv|removeSettings|workload\.[a-z][A-Za-z]+|networking\.(?:port|tls|expose|allowedFrom))\b)` +
	`((?:\.[A-Za-z]+)*)((?:\[[^\]]*\](?:\.[A-Za-z]+)*)*)(` + ofHub + `)?`)

// ofHub stands behind a field that v1alpha1 has not.
const ofHub = " of v1alpha2"

// OlderPaths names the fields in a text about a hub as v1alpha1 does. What has
// no counterpart is said to be one of v1alpha2. A text that it gave stays as it is.
func OlderPaths(text string) string {
	return hubField.ReplaceAllStringFunc(text, func(found string) string {
		parts := hubField.FindStringSubmatch(found)
		before, name, inside := parts[1], parts[2]+parts[3], parts[4]
		full := "spec." + strings.TrimPrefix(name, "spec.")
		if parts[5] != "" || !hasField(reflect.TypeFor[v1alpha2.LlamaStackDistribution](), split(full)) {
			return found // told already, or of another kind: the API server's words about a Deployment
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

// named are the fields by which a path is found: those of both versions, and where a part of the one is the whole of the
// other.
var named = slices.Concat(fields, []field{
	{older: olderExpose, hub: hubExpose},
	{older: olderUserConfig, hub: split("spec.overrideConfig")},
	{older: split("spec.server.userConfig.configMapName"), hub: split("spec.overrideConfig.key")},
	{older: olderAutoscaling, hub: split("spec.workload.autoscaling")},
	{older: split("spec.server.tlsConfig.caBundle"), hub: split("spec.networking.tls.caBundle")},
	{older: split("spec.server.podOverrides"), hub: split("spec.workload.overrides")},
	{older: split("spec.server.storage"), hub: split("spec.storage")},
})

// olderPath takes the longest field that a path begins with, and reports whether v1alpha1 has what that leads to.
func olderPath(p path) (path, bool) {
	best := field{}
	for _, f := range named {
		if len(f.hub) > len(best.hub) && len(f.hub) <= len(p) && slices.Equal(f.hub, p[:len(f.hub)]) {
			best = f
		}
	}
	if len(best.hub) <= 1 && len(p) > 1 {
		return p, false
	}
	older := slices.Concat(best.older, p[len(best.hub):])
	return older, hasField(reflect.TypeFor[v1alpha1.LlamaStackDistribution](), older)
}

// hasField reports whether a path leads to a field of a type. What is below a value that is no struct is taken to be in it.
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
