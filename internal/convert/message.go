package convert

import (
	"regexp"
	"slices"
	"strings"
)

// Warnings are sentences about what a v1alpha1 object says and does not mean in
// the hub. older is not changed.
func Warnings(older map[string]any) []string {
	autoscaling, ok := at(older, olderAutoscaling).(map[string]any)
	if !ok || positive(autoscaling["maxReplicas"]) {
		return nil
	}
	return []string{strings.Join(olderAutoscaling, ".") +
		".maxReplicas: less than 1 is no autoscaling: remove autoscaling, or take 1 or more"}
}

// hubField is a field of the spec in a text for people.
var hubField = regexp.MustCompile(`\bspec(\.[A-Za-z]+)+`)

// OlderPaths names the fields in a text about a hub as v1alpha1 does. What has
// no counterpart stays.
func OlderPaths(text string) string {
	return hubField.ReplaceAllStringFunc(text, func(found string) string {
		return strings.Join(olderPath(split(found)), ".")
	})
}

// olderPath takes the longest field that a path begins with.
func olderPath(p path) path {
	named := slices.Concat(fields, []field{
		{older: olderExpose, hub: hubExpose},
		{older: olderUserConfig, hub: split("spec.overrideConfig")},
		{older: olderAutoscaling, hub: split("spec.workload.autoscaling")},
		{older: split("spec.server.tlsConfig.caBundle"), hub: split("spec.networking.tls.caBundle")},
	})
	best := field{}
	for _, f := range named {
		if len(f.hub) > len(best.hub) && len(f.hub) <= len(p) && slices.Equal(f.hub, p[:len(f.hub)]) {
			best = f
		}
	}
	return slices.Concat(best.older, p[len(best.hub):])
}
