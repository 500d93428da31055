package release

import (
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/provider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/schema"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/suggest"
)

// Release holds the facts about one release line of the server.
type Release struct {
	// Line is the line's name, for example `0.7`.
	Line string `json:"line"`
	// Version is the release from which the data was extracted, for example `0.7.3`.
	Version string `json:"version"`
	// Covers are the releases, including Version, whose extracted data is identical, in ascending order.
	Covers []string `json:"covers"`
	// Package is the name of the server's Python package, for example `llama-stack`.
	Package string `json:"package"`
	// Module is the name of the package's top-level Python module, for example `llama_stack`.
	Module string `json:"module"`
	// Runtime describes how the server is started and what it reads in addition to its config.
	Runtime Runtime `json:"runtime"`
	// TopLevel is the class of the whole config. It also describes its sections `server`, `storage`, `providers` and
	// `registered_resources` completely. Server, Storage, Provider and Resources add details about them.
	TopLevel *schema.Class `json:"top_level"`
	// Server is the class of the `server` section.
	Server *schema.Class `json:"server"`
	// Storage describes the `storage` section.
	Storage Storage `json:"storage"`
	// References are the settings that name a provider or a resource, in the order of the data file.
	References []Reference `json:"references"`
	// Registry describes how the server stores registered resources.
	Registry Registry `json:"registry"`
	// Offline describes the settings for a server without internet access.
	Offline Offline `json:"offline"`
	// Tools describes how tools are declared.
	Tools Tools `json:"tools"`
	// Removed lists the parts that earlier releases had and this release does not have, sorted by kind and name.
	Removed []Removal `json:"removed"`

	apis          []API
	providers     map[string]map[string]*provider.Type
	resources     []Resource
	distributions map[string]*Distribution
}

// Runtime describes how the server of a release starts.
type Runtime struct {
	// ConfigFile is the file name of the server's own configs: `run.yaml` up to 0.3, and `config.yaml` in later releases.
	ConfigFile string `json:"config_file"`
	// Entrypoint is the program that the image starts. It reads ConfigVariable.
	Entrypoint string `json:"entrypoint"`
	// EntrypointKnown reports whether Entrypoint was read from the release's own image rather than assumed.
	EntrypointKnown bool `json:"entrypoint_known"`
	// Command, for example [llama stack run], starts the server with a config file as its last argument.
	Command []string `json:"command"`
	// ConfigVariable is the variable, for example `RUN_CONFIG_PATH`, that names the file for Entrypoint to pass to the
	// server. Empty means that the image reads no such variable (0.2), and that the pod must run Command instead.
	ConfigVariable string `json:"config_variable"`
	// FactoryVariable is the variable, for example `LLAMA_STACK_CONFIG`, that contains the path of the config for the
	// server's uvicorn factory.
	FactoryVariable string `json:"factory_variable"`
	// PortVariable is the environment variable, for example `LLAMA_STACK_PORT`, that specifies the port to listen on.
	PortVariable string `json:"port_variable"`
	// LoggingVariable is the environment variable, for example `LLAMA_STACK_LOGGING`, that specifies the log levels. The
	// config's own `logging` section has no effect in any release (server fact 63).
	LoggingVariable string `json:"logging_variable"`
	// TelemetryVariables reports whether OTEL_* environment variables, rather than the config, configure telemetry.
	TelemetryVariables bool `json:"telemetry_variables"`
	// TelemetrySwitch is the path of the setting that enables telemetry (`telemetry.enabled`, 0.3 only). The OTEL_*
	// variables apply too. If both TelemetryVariables and TelemetrySwitch are unset, telemetry is an API with providers
	// (0.2).
	TelemetrySwitch string `json:"telemetry_switch"`
	// DataDir is the server's default directory for data, for example `~/.llama`.
	DataDir string `json:"data_dir"`
	// DataDirVariable is the environment variable, for example `OGX_CONFIG_DIR`, that sets another directory than DataDir.
	DataDirVariable string `json:"data_dir_variable"`
	// MovedDir is the directory, `~/.llama`, that the server moves to DataDir at every start if DataDir does not exist and
	// DataDirVariable is unset. Empty means that the server moves nothing (server fact 77).
	MovedDir string `json:"moved_dir"`
	// DefaultPort is the port on which the server listens if no port is set: 8321.
	DefaultPort int `json:"default_port"`
	// Host is the value of `server.host` with which the server is also reachable on IPv4-only nodes: `0.0.0.0`.
	Host string `json:"host"`
	// ServerPortIgnored reports whether `server.port` has no effect, so that PortVariable must be set.
	ServerPortIgnored bool `json:"server_port_ignored"`
	// PlainHTTPRefused reports whether the server starts without TLS only if `server.insecure` is true.
	PlainHTTPRefused bool `json:"plain_http_refused"`
	// HealthNeedsToken reports whether the server, with authentication, requires a token for /v1/health too. In that case,
	// every probe fails.
	HealthNeedsToken bool `json:"health_needs_token"`
	// IntrospectionUnverified reports whether the server verifies the certificate of an OAuth2 introspection endpoint only
	// if tls_cafile is set.
	IntrospectionUnverified bool `json:"introspection_unverified"`
	// ModelsAskedAtStart reports whether the server queries the provider for each registered model, and does not start
	// when the provider does not have the model (up to 0.5). Without an API key, a provider's service lists no models.
	ModelsAskedAtStart bool `json:"models_asked_at_start"`
	// RegistryReplaces reports whether the server starts if a resource is registered again with different properties
	// (0.2). The second registration replaces the first one only if it has a different provider. In later releases, the
	// server does not start.
	RegistryReplaces bool `json:"registry_replaces"`
	// WritesTemp reports whether the server needs a writable /tmp.
	WritesTemp bool `json:"writes_temp"`
	// EmptyAPIsServeNone reports whether `apis: []` serves no APIs. Before 1.5, the server serves all APIs, as it does
	// without a list.
	EmptyAPIsServeNone bool `json:"empty_apis_serve_none"`
	// DistributionKey is the top-level key, for example `distro_name` or `image_name`, with the distribution's name.
	DistributionKey string `json:"distribution_key"`
	// RegistryKeepsNamespace reports whether a SQLite key-value backend writes its `namespace` before each key.
	RegistryKeepsNamespace bool `json:"registry_keeps_namespace"`
}

// API returns an API by its name in the config (`vector_io`).
func (r *Release) API(name string) (API, bool) {
	return first(r.apis, func(api API) bool { return api.Name == name })
}

// APIs returns the names of all APIs in the order of the server's source.
func (r *Release) APIs() []string {
	names := make([]string, len(r.apis))
	for i := range r.apis {
		names[i] = r.apis[i].Name
	}
	return names
}

// Provider returns a provider type by API and full type, for example ("inference", "remote::vllm").
func (r *Release) Provider(api, providerType string) (*provider.Type, bool) {
	t, ok := r.providers[api][providerType]
	return t, ok
}

// ResolveType returns the provider type with a full or bare name. For a bare name, it returns the remote type (FR-030).
// If the API has no such remote type, as for `llama-guard`, it returns the inline type. It returns false when the
// release has neither.
func (r *Release) ResolveType(api, name string) (*provider.Type, bool) {
	if strings.Contains(name, "::") {
		return r.Provider(api, name)
	}
	if t, ok := r.Provider(api, provider.Remote+name); ok {
		return t, true
	}
	return r.Provider(api, provider.Inline+name)
}

// NearestType returns the type, among those of an API, that is most similar to a misspelled type, or an empty string.
// If the misspelled type has no prefix, NearestType ignores the prefixes of the types.
func (r *Release) NearestType(api, name string) string {
	return nearestType(r.ProviderTypes(api), name)
}

// nearestType compares the names without their prefixes, because a prefix makes all names similar.
func nearestType(types []string, name string) string {
	_, bare, full := strings.Cut(name, "::")
	if !full {
		bare = name
	}
	short := make([]string, len(types))
	for i, t := range types {
		_, short[i], _ = strings.Cut(t, "::")
	}
	nearest := suggest.Nearest(bare, short)
	var same []string
	for i, t := range types {
		if nearest != "" && short[i] == nearest {
			same = append(same, t)
		}
	}
	if found := suggest.Nearest(name, same); full && found != "" {
		return found
	}
	if len(same) == 0 {
		return ""
	}
	return same[0]
}

// Removal returns the removal of a part that earlier releases had, for example ("api", "telemetry").
func (r *Release) Removal(kind, name string) (Removal, bool) {
	return first(r.Removed, func(gone Removal) bool { return gone.Kind == kind && gone.Name == name })
}

// ProviderTypes returns the full types of an API, sorted.
func (r *Release) ProviderTypes(api string) []string { return sortedKeys(r.providers[api]) }

// Resources returns the kinds of resources that a config can register, in the order of the server's source.
func (r *Release) Resources() []Resource { return r.resources }

// Resource returns one kind of resource that a config can register, for example `models`, `shields` or `connectors`.
func (r *Release) Resource(kind string) (Resource, bool) {
	return first(r.resources, func(res Resource) bool { return res.Kind == kind })
}

// Distribution returns a config that the release ships, for example `starter`, or `starter/run-with-postgres-store` for
// a variant.
func (r *Release) Distribution(name string) (*Distribution, bool) {
	d, ok := r.distributions[name]
	return d, ok
}

// Distributions returns the names of the configs that the release ships, sorted.
func (r *Release) Distributions() []string { return sortedKeys(r.distributions) }
