package release

import (
	"cmp"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/schema"
)

// These are the sections of a config in which resources are registered.
const (
	RegisteredResources = "registered_resources"
	TopLevel            = ""
)

// Resource is one kind of resource that a config registers at startup.
type Resource struct {
	// Kind is the key of the list, for example `models`.
	Kind string `json:"kind"`
	// Section is the section that contains the list: RegisteredResources, or TopLevel when the list itself is a section
	// (`connectors`).
	Section string `json:"section,omitempty"`
	// IDKey is the key with the resource's own ID, for example `model_id`.
	IDKey string `json:"id_key,omitempty"`
	// ProviderIDKey is the key with the provider's name for the resource, for example `provider_model_id`. Empty means
	// that there is no such key.
	ProviderIDKey string `json:"provider_id_key,omitempty"`
	// NeedsProvider reports whether the server silently skips an entry without `provider_id`.
	NeedsProvider bool `json:"needs_provider,omitempty"`
	// Class describes the keys of an entry.
	Class *schema.Class `json:"class"`
	// API is the API whose providers serve the resource, for example `inference` for models. Without the API, the entries
	// have no effect, or the server does not start. Empty means that no API is needed.
	API string `json:"api,omitempty"`
	// PublicID is the form of the ID that clients use, with the entry's keys in braces, for example
	// `{provider_id}/{provider_model_id}`. A missing ProviderIDKey has the value of the IDKey.
	PublicID string `json:"public_id,omitempty"`
	// PublicAlias is the form of the public ID for an entry whose ProviderIDKey differs from its IDKey. It differs from
	// PublicID only for models in 0.2, where clients use the `model_id` of such an entry.
	PublicAlias string `json:"public_alias,omitempty"`
	// AnyProvider is the value of `provider_id` that selects any available provider (`all`). Empty means no such value.
	AnyProvider string `json:"any_provider,omitempty"`
	// PrefixOnce reports whether the prefix is added only once: an ID that already starts with the ID of its provider and
	// a slash is unchanged.
	PrefixOnce bool `json:"prefix_once,omitempty"`
	// RegistryType is the type, for example `model`, of the entries in the server's registry. Empty means that the server
	// does not store such entries in the registry.
	RegistryType string `json:"registry_type,omitempty"`
	// ListedAgain reports whether the server registers each model that a provider lists under the provider's name, even if
	// an entry with another ID is for the same model. The server does not start if an entry has that name and is not the
	// last entry for the model.
	ListedAgain bool `json:"listed_again,omitempty"`
	// Dropped reports whether the server accepts the list and then ignores its entries. If so, the field Instead contains
	// the remedy.
	Dropped bool `json:"dropped,omitempty"`
	// Instead is the remedy if Dropped is true, in words that follow "…; ", for example "declare MCP servers under
	// connectors".
	Instead string `json:"instead,omitempty"`
}

// Public returns the ID by which clients request an entry. The parameters are the ID of the entry, the ID of its
// provider, and the name that the provider uses for the entry. An empty name means that the name is the same as the ID.
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

// DropsID reports whether the public ID omits the entry's ID when the provider uses a different name for the entry.
func (r *Resource) DropsID() bool {
	return r.PublicAlias != "" && !strings.Contains(r.PublicAlias, "{"+r.IDKey+"}")
}

// Tools describes how tools are declared in a release.
type Tools struct {
	// BuiltIn are the tools for which users can write a short name, sorted by that name.
	BuiltIn []BuiltInTool `json:"built_in"`
	// MCP is the kind of resource that declares an MCP server: `tool_groups` up to 0.6, and `connectors` in later
	// releases.
	MCP string `json:"mcp"`
	// MCPURLKey is the key, for example `url`, for the MCP server's URL in that resource.
	MCPURLKey string `json:"mcp_url_key,omitempty"`
	// MCPProvider is the tool_runtime provider type that MCP servers need: `remote::model-context-protocol`.
	MCPProvider string `json:"mcp_provider,omitempty"`
}

// BuiltInTool is a tool with a short name.
type BuiltInTool struct {
	// Name is the name that users write, for example `websearch`.
	Name string `json:"name"`
	// Group is the tool group's ID on the server, for example `builtin::websearch`.
	Group string `json:"group"`
	// Automatic reports whether the server registers the group itself, so that the config needs no entry for the group.
	Automatic bool `json:"automatic"`
	// Providers are the tool_runtime provider types that can serve the tool group. The config must contain a provider of
	// one of these types.
	Providers []string `json:"providers"`
}

// BuiltInTool returns a built-in tool by its short name or its group ID.
func (t *Tools) BuiltInTool(name string) (BuiltInTool, bool) {
	return first(t.BuiltIn, func(b BuiltInTool) bool { return b.Name == name || b.Group == name })
}

// Reference is a setting, outside the lists of resources, that names a provider or a resource. When the named object is
// missing, the server does not start, or requests that use the object fail.
type Reference struct {
	// Path is the path of the setting, for example `vector_stores.default_embedding_model`. When package stackconfig
	// removes the named object, it also removes the whole setting.
	Path string `json:"path"`
	// API is the API of the named provider, or the API that serves the resource, for example `inference`.
	API string `json:"api"`
	// ProviderKey is the key below Path with the provider's ID. Empty means that there is no such key. `.` means that the
	// setting itself is the ID.
	ProviderKey string `json:"provider_key"`
	// Resource is the kind of the named resource, for example `models`. Empty means that the setting names only a
	// provider.
	Resource string `json:"resource"`
	// ResourceKey is the key below Path with the resource's ID. `.` means that the setting itself is the ID.
	ResourceKey string `json:"resource_key"`
	// ModelType is the type of model that the setting needs, for example `embedding`. Empty means that the setting names
	// no model.
	ModelType string `json:"model_type,omitempty"`
	// CheckedAtStart reports whether the server does not start when there is no such model.
	CheckedAtStart bool `json:"checked_at_start,omitempty"`
}
