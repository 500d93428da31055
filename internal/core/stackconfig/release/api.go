package release

import (
	"slices"
	"strings"
)

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

// KnownAPI reports whether any release has an API with that name, written as in the config (`vector_io`) or as in a
// Kubernetes object (`vectorIo`). It distinguishes an API of another release from a misspelled name.
func KnownAPI(name string) bool {
	return slices.Contains(files().APIs, SnakeCase(name))
}

// KnownAPIs returns the sorted names of the APIs of all releases, written as in the config.
func KnownAPIs() []string { return slices.Clone(files().APIs) }

// SnakeCase returns the name of an API as written in the config: vector_io for vectorIo. It does not change vector_io.
func SnakeCase(name string) string {
	var b strings.Builder
	for _, r := range name {
		if 'A' <= r && r <= 'Z' {
			if b.Len() > 0 {
				b.WriteByte('_')
			}
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// CamelCase returns the name of an API as written in a Kubernetes object: vectorIo for vector_io.
func CamelCase(name string) string {
	words := strings.Split(name, "_")
	for i, word := range words[1:] {
		if word != "" {
			words[i+1] = strings.ToUpper(word[:1]) + word[1:]
		}
	}
	return strings.Join(words, "")
}
