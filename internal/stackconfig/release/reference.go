package release

// Reference is a setting, outside of the lists of resources, that names a provider or a resource. When what it names is
// missing, the server does not start, or fails the requests that use it.
type Reference struct {
	// Path leads to the setting: `vector_stores.default_embedding_model`. Without what it names, the setting is to be
	// left out as a whole.
	Path string `json:"path"`
	// API is the API whose provider is named or serves the resource: `inference`.
	API string `json:"api"`
	// ProviderKey is the key below Path with the provider's id. Empty when there is none; `.` when the setting itself
	// is the id.
	ProviderKey string `json:"provider_key"`
	// Resource is the kind of resource that is named: `models`; empty when only a provider is.
	Resource string `json:"resource"`
	// ResourceKey is the key below Path with the resource's id; `.` when the setting itself is the id.
	ResourceKey string `json:"resource_key"`
}
