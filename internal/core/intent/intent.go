package intent

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Intent is the spec of one stack in normal form.
type Intent struct {
	// Name and Namespace identify the object.
	Name, Namespace string
	// Distribution is the server that the stack runs.
	Distribution Distribution
	// Providers are the providers of all APIs, in the order of the fields of spec.providers. Within one API, they keep the
	// order of the spec.
	Providers []Provider
	// External lists the providers that have their own images, sorted by API. Within one API, they keep the order of the
	// spec.
	External []ExternalProvider
	// Models, Tools and Shields keep the order of the spec.
	Models  []Model
	Tools   []Tool
	Shields []Shield
	// Storage is the storage of the server's state.
	Storage Storage
	// Disabled lists the disabled APIs and providers in the order of the spec.
	Disabled []Disabled
	// Server holds the settings of the server process: its port, the number of processes and TLS.
	Server Server
	// Offline reports whether the server has no access to the internet.
	Offline bool
	// Files describes the model files that the user supplies, so that the server need not download them.
	Files ModelFiles
	// Settings are the user's patch for the generated configuration.
	Settings Settings
	// SecretEnv lists the user's own environment variables with values from Secrets, sorted by name.
	SecretEnv []Variable
	// Variables are the names of the environment variables that the user sets on the container
	// (workload.overrides.env), sorted. A base provider that exists only if a variable is set counts as configured if
	// that variable is in this list.
	Variables []string
	// MoreVariables reports whether the container has further variables with unknown names
	// (workload.overrides.envFrom).
	MoreVariables bool
	// Container is what the user changes in the server's container.
	Container Container
	// Secrets are all references to Secrets, including those of the fields above, sorted by variable.
	Secrets []SecretUse
}

// Distribution selects the server that the stack runs, by Name or Image.
type Distribution struct {
	Name, Image, Version string
	// RequiredOnly reports whether the server has only those base providers that the providers in the spec need
	// (spec.distribution.baseProviders: Required).
	RequiredOnly bool
}

// Provider is one provider of one API.
type Provider struct {
	// API is the server's name for the API, for example vector_io.
	API string
	// ID is the ID as written, or the default that FR-035 defines.
	ID string
	// Type is the type as written, for example vllm or remote::vllm.
	Type string
	// Endpoint is the endpoint as written. Empty means that it is not set.
	Endpoint string
	// APIKey is the reference to the API key. Nil means that it is not set.
	APIKey *SecretRef
	// Secrets are the entries of secretRefs and the other keys whose values are references to Secrets, sorted by key.
	Secrets []SecretKey
	// Settings are the settings as written. Numbers are json.Number. The generated configuration has the keys in sorted
	// order.
	Settings map[string]any
	// Path is the field path of the entry, for example spec.providers.inference or spec.providers.inference[1].
	Path *field.Path
}

// ExternalProvider is a provider with its own container image.
type ExternalProvider struct {
	// API is the server's name for the API, for example vector_io.
	API string
	// ID is the provider's ID in the server.
	ID string
	// Image is the image with the provider's package, as written.
	Image string
	// PullPolicy is the pull policy of that image. Empty means that it is not set.
	PullPolicy corev1.PullPolicy
	// Config is the config as written. Numbers are json.Number. The generated configuration has the keys in sorted order.
	Config map[string]any
	// Secrets are the entries of secretRefs: configuration keys with values from Secrets, sorted by key.
	Secrets []SecretKey
	// Path is the field path of the entry, for example spec.externalProviders.inference[0].
	Path *field.Path
}

// SecretKey is a configuration key with a value from a Secret.
type SecretKey struct {
	// Key is the key in the provider's config.
	Key string
	SecretRef
}

// SecretRef is one key of a Secret in the object's namespace.
type SecretRef struct {
	// Name is the name of the Secret, and Key is the key in its data.
	Name, Key string
	// EnvVar is the name of the environment variable with the value. A connection string also has such a name, although
	// the server receives its parts in separate variables.
	EnvVar string
	// Path is the field path of the reference, including secretKeyRef.
	Path *field.Path
}

// Model is a model to register.
type Model struct {
	Name            string
	Provider        string
	ProviderModelID string
	ModelType       string
	// ContextLength is the length in tokens. Nil means that it is not set.
	ContextLength *int64
	Quantization  string
	Metadata      map[string]any
	Path          *field.Path
}

// Tool is a tool group.
type Tool struct {
	Name        string
	Provider    string
	MCPEndpoint string
	Args        map[string]any
	Path        *field.Path
}

// Shield is a shield to register.
type Shield struct {
	Name     string
	Provider string
	Model    string
	Params   map[string]any
	Path     *field.Path
}

// Storage is the storage of the server's state. If a store is nil, the server uses the store of the base (FR-053).
type Storage struct {
	KV, SQL *Store
}

// These are the types of state stores.
const (
	SQLite   = "sqlite"
	Redis    = "redis"
	Postgres = "postgres"
)

// Store is one of the two state stores.
type Store struct {
	// Type is SQLite, Redis (key-value only) or Postgres. It is never empty.
	Type string
	// Host and Port are the parts of the Redis address.
	Host string
	Port int32
	// Password is the Redis password. Nil means that Redis requires no password.
	Password *SecretRef
	// ConnectionString is the PostgreSQL connection string.
	ConnectionString *SecretRef
	Path             *field.Path
}

// Disabled is an API, or one provider of an API, that the server must not have.
type Disabled struct {
	// API is the API as written, for example postTraining or post_training.
	API string
	// Provider is the provider's ID. Empty means the whole API. Wildcard means every base provider that the spec does not
	// declare.
	Provider string
	Path     *field.Path
}

// In an entry of spec.disabled, such as inference/*, Wildcard selects every base provider of that API unless the spec
// declares the provider.
const Wildcard = "*"

// BaseProvidersPath is the path of the field that selects the providers of the base.
var BaseProvidersPath = field.NewPath("spec", "distribution", "baseProviders")

// Declares reports whether the spec has a provider with the given API and ID. The parameter `api` is the server's name
// for the API.
func (in *Intent) Declares(api, id string) bool {
	return in.ExternalWith(api, id) != nil ||
		slices.ContainsFunc(in.Providers, func(p Provider) bool { return p.API == api && p.ID == id })
}

// Server holds the settings of the server process.
type Server struct {
	// Port is never 0 (FR-060).
	Port     int32
	PortPath *field.Path
	// Workers is the number of server processes. Zero means that it is not set.
	Workers     int32
	WorkersPath *field.Path
	// TLS is nil if the server serves plain HTTP.
	TLS *TLS
}

// ModelFiles describes the files that the user supplies to the server (modelFiles).
type ModelFiles struct {
	// Hub reports whether there is a Hugging Face Hub cache, and Tiktoken reports whether there are tiktoken tokenizers.
	Hub, Tiktoken bool
}

// TLS configures HTTPS in the server.
type TLS struct {
	// SecretName is the name of the Secret of type kubernetes.io/tls with the certificate.
	SecretName string
	// Path is the field path of SecretName: spec.networking.tls.secretName.
	Path *field.Path
}

// Variable is an environment variable with a value from a Secret.
type Variable struct {
	Name string
	SecretRef
}
