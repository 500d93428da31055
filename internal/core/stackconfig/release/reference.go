package release

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
