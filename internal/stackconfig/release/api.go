package release

import "strings"

// API is one API of a release.
type API struct {
	// Name is the name in the config, for example `vector_io`.
	Name string `json:"name"`
	// Providable reports whether the API may be listed in `apis` and have providers. The server itself adds all other
	// APIs.
	Providable bool `json:"providable"`
	// Internal reports whether the server implements the API itself.
	Internal bool `json:"internal"`
	// RoutingTable is the API that lists the resources of this API, for example `models` for `inference`. Empty means
	// none.
	RoutingTable string `json:"routing_table,omitempty"`
	// Router is the API that a routing table belongs to, for example `inference` for `models`.
	Router string `json:"router,omitempty"`
	// NeedsProvider reports whether the API must have a provider for the server to start when `apis` lists the API.
	NeedsProvider bool `json:"needs_provider"`
}

// Removal is a part that earlier releases had and this release does not have.
type Removal struct {
	// Kind is `api`, `provider`, `resource`, `section` or `tool`.
	Kind string `json:"kind"`
	// Name is the name of the part: an API, `api/type` of a provider, a kind of resource, a top-level key, or a tool.
	Name string `json:"name"`
	// Last is the last line that had the part.
	Last string `json:"last"`
	// Instead describes the replacement, for example "set OTEL_* variables in …". A message appends this text after "; ".
	Instead string `json:"instead"`
}

// partOf contains the word in messages for each kind of part.
var partOf = map[string]string{
	"api": "API", "provider": "provider type", "resource": "resource kind", "section": "section", "tool": "tool",
}

// Note returns text for a message. The text names the last release with the removed part and, if there is one, the
// replacement.
func (r Removal) Note() string {
	text := "release " + r.Last + " was the last release with this " + partOf[r.Kind]
	if r.Instead != "" {
		text += "; " + strings.TrimSuffix(r.Instead, ".")
	}
	return text
}
