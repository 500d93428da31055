package release

import (
	"cmp"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/schema"
)

// The places in a config where resources are registered.
const (
	RegisteredResources = "registered_resources"
	TopLevel            = ""
)

// Resource is one kind of thing that a config registers at start.
type Resource struct {
	// Kind is the key of the list: `models`.
	Kind string
	// Section is the top-level section the list is in: RegisteredResources, or TopLevel when the list is a section
	// itself (`connectors`).
	Section string
	// IDKey is the key with the resource's own id: `model_id`.
	IDKey string
	// ProviderIDKey is the key that names what the provider calls it: `provider_model_id`; empty when there is none.
	ProviderIDKey string
	// NeedsProvider says that an entry without `provider_id` is silently skipped by the server.
	NeedsProvider bool
	// Class has the keys of an entry.
	Class *schema.Class
	// API is the API whose providers serve the resource: `inference` for models; without it the entries are useless or
	// stop the start. Empty when none is needed.
	API string
	// PublicID is the form of the id that clients use, with the entry's keys in braces:
	// `{provider_id}/{provider_model_id}`. A ProviderIDKey that the entry does not have is the same as its IDKey.
	PublicID string
	// PublicAlias is that form for an entry whose ProviderIDKey differs from its IDKey. It is PublicID in all lines but
	// 0.2, where such an id stays as it is written.
	PublicAlias string
	// AnyProvider is the value of `provider_id` that means whichever provider is there (`all`); empty when the release
	// has none.
	AnyProvider string
	// PrefixOnce says that an id that already begins with the id of its provider and a slash is not prefixed again.
	PrefixOnce bool
	// RegistryType is the type of the entries in the server's registry: `model`. Empty when the server keeps none there.
	RegistryType string
	// Dropped says that the server accepts the list and empties it; Instead says what to use.
	Dropped bool
	// Instead continues "…; " when Dropped: "declare MCP servers under connectors".
	Instead string
}

// Public returns the id under which clients find an entry with an id of its own, the id of its provider, and what the
// provider calls it; the last may be empty, which means the id.
func (r *Resource) Public(id, provider, own string) string {
	form := r.PublicID
	switch {
	case form == "" || (r.AnyProvider != "" && provider == r.AnyProvider):
		return id
	case r.PrefixOnce && strings.HasPrefix(id, provider+"/"):
		return id
	case own != "" && own != id:
		form = r.PublicAlias
	}
	var text strings.Builder
	for part := range strings.SplitSeq(form, "{") {
		key, rest, placeholder := strings.Cut(part, "}")
		switch {
		case !placeholder:
			rest = part
		case key == r.IDKey:
			text.WriteString(id)
		case key == r.ProviderIDKey:
			text.WriteString(cmp.Or(own, id))
		default:
			text.WriteString(provider)
		}
		text.WriteString(rest)
	}
	return text.String()
}

// DropsID says that clients do not see the id of an entry whose provider calls it something else.
func (r *Resource) DropsID() bool {
	return r.PublicAlias != "" && !strings.Contains(r.PublicAlias, "{"+r.IDKey+"}")
}

// Tools says how tools are declared in a release.
type Tools struct {
	// BuiltIn are the short names that users may write, sorted.
	BuiltIn []BuiltInTool
	// MCP is the kind of resource that an MCP server is declared as: `connectors`, up to 0.6 `tool_groups`.
	MCP string
	// MCPURLKey is the key of the server's URL in that resource: `url`.
	MCPURLKey string
	// MCPProvider is the tool_runtime provider type that MCP servers need: `remote::model-context-protocol`.
	MCPProvider string
}

// BuiltInTool is a tool with a short name.
type BuiltInTool struct {
	// Name is what users write: `websearch`.
	Name string `json:"name"`
	// Group is the tool group's id on the server: `builtin::websearch`.
	Group string `json:"group"`
	// Automatic says that the server registers the group itself, so that nothing is written into the config.
	Automatic bool `json:"automatic"`
	// Providers are the tool_runtime provider types that can serve it; one of them has to be configured.
	Providers []string `json:"providers"`
}

// BuiltInTool returns a built-in tool by its short name or its group id.
func (t *Tools) BuiltInTool(name string) (BuiltInTool, bool) {
	for _, b := range t.BuiltIn {
		if b.Name == name || b.Group == name {
			return b, true
		}
	}
	return BuiltInTool{}, false
}
