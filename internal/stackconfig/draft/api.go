package draft

import (
	"cmp"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/release"
)

// APIName is the server's name of an API that was written in camelCase or
// snake_case.
func APIName(written string) string {
	return cmp.Or(intent.API(written), release.SnakeCase(written))
}

// APIField is what a user calls an API.
func APIField(api string) string {
	return cmp.Or(intent.APIField(api), release.CamelCase(api))
}

// OtherRelease says which release has an API that this one cannot configure: the last one that had it and what to use
// instead, or the first one that has it; empty when none does.
func (d *Draft) OtherRelease(api string) string {
	if gone := d.RemovalNote("api", api); gone != "" {
		return gone
	}
	line, ok := release.LineWithAPI(d.Release.Line, api)
	switch {
	case !ok:
		return ""
	case release.Compare(line, d.Release.Line) > 0:
		return "; release " + line + " is the first that has it"
	default:
		return "; release " + line + " was the last that had it"
	}
}

// RemovalNote says since when an API, a provider type or a resource is not there any
// more, and what to use instead; empty when no release had it.
func (d *Draft) RemovalNote(kind, name string) string {
	removal, ok := d.Release.Removal(kind, name)
	if !ok {
		return ""
	}
	text := "; release " + removal.Last + " was the last that had it"
	if removal.Instead != "" {
		text += ", " + strings.TrimSuffix(removal.Instead, ".")
	}
	return text
}
