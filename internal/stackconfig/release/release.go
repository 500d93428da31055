package release

import (
	"slices"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/provider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/schema"
	"github.com/llamastack/llama-stack-k8s-operator/internal/suggest"
)

// Release is what is known about one release line of the server.
type Release struct {
	// Line is the line's name: `0.7`.
	Line string
	// Version is the release the data was extracted from: `0.7.3`.
	Version string
	// Covers are the releases whose data was extracted too and found to be the same, Version included, ascending.
	Covers []string
	// Package is the name of the server's Python package: `llama-stack`.
	Package string
	// Module is the name of its top-level Python module: `llama_stack`.
	Module string
	// Runtime says how the server is started and what it reads beside its config.
	Runtime Runtime
	// TopLevel is the class of the whole config. Its sections `server`, `storage`, `providers` and
	// `registered_resources` are described in full too; Server, Storage, Provider and Resources say more about them.
	TopLevel *schema.Class
	// Server is the class of the section `server`.
	Server *schema.Class
	// Storage describes the section `storage`.
	Storage Storage
	// References are the settings that name a provider or a resource, in the order of the data.
	References []Reference
	// Registry says how what is registered is kept.
	Registry Registry
	// Offline says what keeps the server from looking outside.
	Offline Offline
	// Tools says how tools are declared.
	Tools Tools
	// Removed lists, from history.yaml, what earlier releases had and this one has not, sorted by kind and name.
	Removed []Removal

	apis          map[string]API
	apiNames      []string
	providers     map[string]map[string]*provider.Type
	resources     []Resource
	distributions map[string]*Distribution
}

// Runtime says how the server of a release starts.
type Runtime struct {
	// ConfigFile is the name that the server's own configs have: `config.yaml`, up to 0.3 `run.yaml`.
	ConfigFile string `json:"config_file"`
	// Entrypoint is the program that the image starts; it reads ConfigVariable.
	Entrypoint string `json:"entrypoint"`
	// EntrypointKnown reports whether Entrypoint was read off the release's own image and is not an assumption.
	EntrypointKnown bool `json:"entrypoint_known"`
	// Command starts the server with a config file as its last argument: [llama stack run].
	Command []string `json:"command"`
	// ConfigVariable names the file that Entrypoint hands to the server: `RUN_CONFIG_PATH`. Empty when the image reads
	// no such variable (0.2), so that Command has to be started instead.
	ConfigVariable string `json:"config_variable"`
	// FactoryVariable names the config for the server's uvicorn factory: `LLAMA_STACK_CONFIG`.
	FactoryVariable string `json:"factory_variable"`
	// PortVariable is the environment variable with the port to listen on: `LLAMA_STACK_PORT`.
	PortVariable string `json:"port_variable"`
	// LoggingVariable is the environment variable with the log levels: `LLAMA_STACK_LOGGING`. The config's own
	// `logging` section has no effect in any release.
	LoggingVariable string `json:"logging_variable"`
	// TelemetryVariables says that telemetry is configured by OTEL_* environment variables and not in the config.
	TelemetryVariables bool `json:"telemetry_variables"`
	// TelemetrySwitch is the path of the setting that switches telemetry on (`telemetry.enabled`, 0.3 only); the OTEL_*
	// variables count too. With neither of the two, telemetry is an API with providers (0.2).
	TelemetrySwitch string `json:"telemetry_switch"`
	// DataDir is where the server keeps its data unless told otherwise: `~/.llama`.
	DataDir string `json:"data_dir"`
	// DefaultPort is the port without any setting: 8321.
	DefaultPort int `json:"default_port"`
	// Host is the value for `server.host` that makes the server reachable on IPv4-only nodes too: `0.0.0.0`.
	Host string `json:"host"`
	// ServerPortIgnored says that `server.port` has no effect, so that PortVariable has to be set.
	ServerPortIgnored bool `json:"server_port_ignored"`
	// PlainHTTPRefused says that the server does not start without TLS unless `server.insecure` is true.
	PlainHTTPRefused bool `json:"plain_http_refused"`
	// HealthNeedsToken says that with authentication the server wants a token for /v1/health too, so that no probe could
	// ever find it ready.
	HealthNeedsToken bool `json:"health_needs_token"`
	// ModelsAskedAtStart says that the server asks the provider for each registered model when it starts, and ends when
	// the provider does not have it (up to 0.5). Without an API key a service has none.
	ModelsAskedAtStart bool `json:"models_asked_at_start"`
	// RegistryReplaces says that what is registered again with other properties takes the place of the first (0.2); later
	// releases do not start with it.
	RegistryReplaces bool `json:"registry_replaces"`
	// WritesTemp says that the server needs a writable /tmp.
	WritesTemp bool `json:"writes_temp"`
	// EmptyAPIsServeNone says that `apis: []` serves nothing; before 1.5 it serves all, as no list does.
	EmptyAPIsServeNone bool `json:"empty_apis_serve_none"`
	// DistributionKey is the top-level key with the distribution's name: `distro_name`, `image_name`.
	DistributionKey string `json:"distribution_key"`
	// RegistryKeepsNamespace reports whether a sqlite key-value backend puts its `namespace` before each key.
	RegistryKeepsNamespace bool `json:"registry_keeps_namespace"`
}

// API returns what is known about an API, by its name in the config (`vector_io`).
func (r *Release) API(name string) (API, bool) {
	api, ok := r.apis[name]
	return api, ok
}

// APIs returns the names of all APIs in the order of the server's source.
func (r *Release) APIs() []string { return r.apiNames }

// Provider returns a provider type by API and full type: ("inference", "remote::vllm").
func (r *Release) Provider(api, providerType string) (*provider.Type, bool) {
	t, ok := r.providers[api][providerType]
	return t, ok
}

// ResolveType returns the provider type that a user means: a full type as it is; a bare name as a remote type (FR-030),
// or else as an inline one, because `remote::llama-guard` would not start.
func (r *Release) ResolveType(api, name string) (*provider.Type, bool) {
	if strings.Contains(name, "::") {
		return r.Provider(api, name)
	}
	if t, ok := r.Provider(api, provider.Remote+name); ok {
		return t, true
	}
	return r.Provider(api, provider.Inline+name)
}

// NearestType returns the type of an API that a mistyped one most likely means, or an empty string. A type without
// prefix is compared with the types' names without prefix.
func (r *Release) NearestType(api, name string) string {
	return nearestType(r.ProviderTypes(api), name)
}

func nearestType(types []string, name string) string {
	if strings.Contains(name, "::") {
		return suggest.Nearest(name, types)
	}
	short := make([]string, len(types))
	for i, t := range types {
		_, short[i], _ = strings.Cut(t, "::")
	}
	if i := slices.Index(short, suggest.Nearest(name, short)); i >= 0 {
		return types[i]
	}
	return ""
}

// Removal returns what is known of a thing that earlier releases had: ("api", "telemetry").
func (r *Release) Removal(kind, name string) (Removal, bool) {
	for _, gone := range r.Removed {
		if gone.Kind == kind && gone.Name == name {
			return gone, true
		}
	}
	return Removal{}, false
}

// ProviderTypes returns the full types that an API has, sorted.
func (r *Release) ProviderTypes(api string) []string { return sortedKeys(r.providers[api]) }

// Resources returns the kinds of things that a config can register, in the order of the server's source.
func (r *Release) Resources() []Resource { return r.resources }

// Resource returns one kind of thing that a config can register: `models`, `shields`, `connectors`.
func (r *Release) Resource(kind string) (Resource, bool) {
	for _, res := range r.resources {
		if res.Kind == kind {
			return res, true
		}
	}
	return Resource{}, false
}

// Distribution returns a config that the release ships: `starter`, or `starter/run-with-postgres-store` for a variant.
func (r *Release) Distribution(name string) (*Distribution, bool) {
	d, ok := r.distributions[name]
	return d, ok
}

// Distributions returns the names of the configs that the release ships, sorted.
func (r *Release) Distributions() []string { return sortedKeys(r.distributions) }
