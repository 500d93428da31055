package intent

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Intent is the spec of one stack in normal form.
type Intent struct {
	// Name and Namespace are the object's.
	Name, Namespace string
	// Distribution says which server runs.
	Distribution Distribution
	// Providers of all APIs, API by API in the order of the API's fields, within
	// one API in written order.
	Providers []Provider
	// External are the providers that come in images of their own, by API in sorted order, within one API in written order.
	External []ExternalProvider
	// Models, Tools and Shields in written order.
	Models  []Model
	Tools   []Tool
	Shields []Shield
	// Storage of the server's state.
	Storage Storage
	// Disabled in written order.
	Disabled []Disabled
	// Server is how the server listens.
	Server Server
	// Offline reports whether the server has no way to the internet.
	Offline bool
	// Files are those that the server need not download.
	Files ModelFiles
	// Settings are what the user patches in the generated configuration.
	Settings Settings
	// SecretEnv are the user's own variables from Secrets, sorted by name.
	SecretEnv []Variable
	// Variables are the names of the environment variables that the user sets on
	// the container (workload.overrides.env), sorted. A provider of the base that
	// exists only when a variable is set counts as configured when it is here.
	Variables []string
	// MoreVariables reports whether the container has further variables, whose names
	// nobody knows here (workload.overrides.envFrom).
	MoreVariables bool
	// Secrets are all references to Secrets, those of the fields above, sorted by variable.
	Secrets []SecretUse
}

// Distribution says which server runs: Name or Image.
type Distribution struct {
	Name, Image, Version string
}

// Provider is one provider of one API.
type Provider struct {
	// API in the server's spelling: vector_io.
	API string
	// ID is the id written, or the default of FR-035.
	ID string
	// Type as written: vllm, remote::vllm.
	Type string
	// Endpoint as written, empty when unset.
	Endpoint string
	// APIKey is nil when unset.
	APIKey *SecretRef
	// Secrets are secretRefs and their shorthand, sorted by key.
	Secrets []SecretKey
	// Settings as written; numbers are json.Number. To be written in the order of
	// the sorted keys.
	Settings map[string]any
	// Path of the entry: spec.providers.inference or spec.providers.inference[1].
	Path *field.Path
}

// ExternalProvider is a provider that comes in a container image of its own.
type ExternalProvider struct {
	// API in the server's spelling: vector_io.
	API string
	// ID is the provider's id in the server.
	ID string
	// Image holds the provider's package, as written.
	Image string
	// PullPolicy of that image, empty when unset.
	PullPolicy corev1.PullPolicy
	// Config as written; numbers are json.Number. To be written in the order of the sorted keys.
	Config map[string]any
	// Secrets are the keys of Config that take their values from Secrets, sorted by key.
	Secrets []SecretKey
	// Path of the entry: spec.externalProviders.inference[0].
	Path *field.Path
}

// SecretKey is a configuration key whose value lives in a Secret.
type SecretKey struct {
	// Key of the provider's config.
	Key string
	SecretRef
}

// SecretRef is one key of a Secret in the object's namespace.
type SecretRef struct {
	// Name of the Secret, Key in its data.
	Name, Key string
	// EnvVar is the variable that carries the value to the server. A connection string has one too, though the server
	// gets its parts in variables of their own.
	EnvVar string
	// Path of the reference, up to and with secretKeyRef.
	Path *field.Path
}

// Model is a model to register.
type Model struct {
	Name            string
	Provider        string
	ProviderModelID string
	ModelType       string
	// ContextLength in tokens, nil when unset.
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

// Storage is where state is kept; nil leaves the base's (FR-053).
type Storage struct {
	KV, SQL *Store
}

// The kinds of state stores.
const (
	SQLite   = "sqlite"
	Redis    = "redis"
	Postgres = "postgres"
)

// Store is one of the two state stores.
type Store struct {
	// Type is SQLite, Redis (key-value only) or Postgres; never empty.
	Type string
	// Host and Port of Redis.
	Host string
	Port int32
	// Password of Redis, nil when it has none.
	Password *SecretRef
	// ConnectionString of PostgreSQL.
	ConnectionString *SecretRef
	Path             *field.Path
}

// Disabled is an API, or one provider of an API, that the server shall not have.
type Disabled struct {
	// API as written: postTraining or post_training.
	API string
	// Provider is the provider's id, empty when the whole API is meant.
	Provider string
	Path     *field.Path
}

// Server is how the server listens.
type Server struct {
	// Port is never 0 (FR-060).
	Port     int32
	PortPath *field.Path
	// Workers is the number of server processes, 0 when unset.
	Workers     int32
	WorkersPath *field.Path
	// TLS is nil when the server speaks plain HTTP.
	TLS *TLS
}

// ModelFiles tells which files the user gives the server (modelFiles).
type ModelFiles struct {
	// Hub reports whether there is a cache of the Hugging Face Hub, Tiktoken whether there are tokenizers of tiktoken.
	Hub, Tiktoken bool
}

// TLS lets the server speak HTTPS.
type TLS struct {
	// SecretName is the Secret of type kubernetes.io/tls with the certificate.
	SecretName string
	// Path of SecretName: spec.networking.tls.secretName.
	Path *field.Path
}

// Variable is an environment variable that takes its value from a Secret.
type Variable struct {
	Name string
	SecretRef
}
