package stackconfig

import (
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/release"
)

// apiName is the server's name of an API that was written in camelCase or
// snake_case.
func apiName(written string) string {
	if api := intent.API(written); api != "" {
		return api
	}
	return release.SnakeCase(written)
}

// apiField is what a user calls an API.
func apiField(api string) string {
	if name := intent.APIField(api); name != "" {
		return name
	}
	return release.CamelCase(api)
}

// otherRelease says which release has an API that this one cannot configure: the last one that had it and what to use
// instead, or the first one that has it; empty when none does.
func (d *draft) otherRelease(api string) string {
	if gone := d.gone("api", api); gone != "" {
		return gone
	}
	line, ok := release.LineWithAPI(d.rel.Line, api)
	switch {
	case !ok:
		return ""
	case release.Compare(line, d.rel.Line) > 0:
		return "; release " + line + " is the first that has it"
	default:
		return "; release " + line + " was the last that had it"
	}
}

// gone says since when an API, a provider type or a resource is not there any
// more, and what to use instead; empty when no release had it.
func (d *draft) gone(kind, name string) string {
	removal, ok := d.rel.Removal(kind, name)
	if !ok {
		return ""
	}
	text := "; release " + removal.Last + " was the last that had it"
	if removal.Instead != "" {
		text += ", " + strings.TrimSuffix(removal.Instead, ".")
	}
	return text
}
