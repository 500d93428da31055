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
