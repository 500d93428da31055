package draft

import (
	"cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

// APIName returns the server's name for an API whose name is written in camelCase or snake_case.
func APIName(written string) string {
	return cmp.Or(intent.API(written), release.SnakeCase(written))
}

// APIField returns the name of an API in the spec.
func APIField(api string) string {
	return cmp.Or(intent.APIField(api), release.CamelCase(api))
}

// OtherRelease returns a note about an API that this release cannot configure. The note names the last release that had
// the API, with the replacement, or the first release that has the API. It is empty when no release has the API.
func (d *Draft) OtherRelease(api string) string {
	if gone := d.RemovalNote("api", api); gone != "" {
		return gone
	}
	line, ok := release.LineWithAPI(d.Release.Line, api)
	switch {
	case !ok:
		return ""
	case release.Compare(line, d.Release.Line) > 0:
		return "; release " + line + " is the first release with this API"
	default:
		return "; release " + line + " was the last release with this API"
	}
}

// RemovalNote returns a note about a removed API, provider type, resource or section. The note names the last release
// that had this part, and the replacement. It is empty when no earlier release had the part, or when this release still
// has it.
func (d *Draft) RemovalNote(kind, name string) string {
	removal, ok := d.Release.Removal(kind, name)
	if !ok {
		return ""
	}
	return "; " + removal.Note()
}
