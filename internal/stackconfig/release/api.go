package release

// API is one API of a release.
type API struct {
	// Name is the name in the config: `vector_io`.
	Name string `json:"name"`
	// Providable says that the API may stand in `apis` and have providers. The others are added by the server itself.
	Providable bool `json:"providable"`
	// Internal says that the server implements the API itself.
	Internal bool `json:"internal"`
	// RoutingTable is the API that lists what this one serves, empty when it has none: `models` for `inference`.
	RoutingTable string `json:"routing_table,omitempty"`
	// Router is the API that a routing table belongs to: `inference` for `models`.
	Router string `json:"router,omitempty"`
	// NeedsProvider says that the server does not start when the API is listed in `apis` without a provider.
	NeedsProvider bool `json:"needs_provider"`
}

// Removal says that earlier releases had something that this one has not.
type Removal struct {
	// Kind is `api`, `provider`, `resource`, `section` or `tool`.
	Kind string `json:"kind"`
	// Name is the thing's name: an API, `api/type` of a provider, a kind of resource, a top-level key.
	Name string `json:"name"`
	// Last is the last line that had it.
	Last string `json:"last"`
	// Instead says what to use now, as a sentence that continues "…; ": "set OTEL_* variables in …".
	Instead string `json:"instead"`
}
