package stackconfig

import (
	"fmt"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/internal/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/baseconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/secretvalue"
)

// Input is everything that a configuration is made from.
type Input struct {
	// Intent is what the user wishes.
	Intent *intent.Intent
	// Base is the configuration the distribution comes with. It is not changed.
	Base *baseconfig.Base
	// Release is the server release that will read the configuration.
	Release *release.Release
	// ReleaseUnknown says that nobody knows whether it does: Release is the best
	// guess. What is safe to write for every release is written, and what is wrong
	// with the base by Release is a warning.
	ReleaseUnknown bool
	// Directory is where the SQLite files of what runs are, in the notation of the configuration. Empty: nothing runs, or
	// nobody knows it. It counts for a base that names no files.
	Directory string
	// KVTable is the table in which a key-value store in PostgreSQL has the stack's data.
	// Empty: there is none, or nobody knows.
	KVTable string
}

// Result is a generated configuration.
type Result struct {
	// Config is the content of config.yaml.
	Config []byte
	// Hash is the SHA-256 of Config in hex.
	Hash string
	// Env are the variables that the configuration reads, sorted by name.
	Env []EnvVar
	// Derived are the entries of the Secret <name>-storage that Env refers to,
	// sorted by key; the Secret does not exist when there are none.
	Derived []secretvalue.Derived
	// Directories have to exist before the server starts, which makes most of its
	// directories but not these. They are spelt as in Config, variables included.
	Directories []string
	// Registry is where the server keeps what it registered. Nil when the release takes
	// changed resources as they come (0.2).
	Registry *Registry
	// ProviderCount counts the providers in the configuration, ResourceCount what
	// it registers. Both leave out what exists only when a variable is set.
	ProviderCount, ResourceCount int
	// Models are the user's models as clients call them, in written order; nil when
	// the release of the server is not known.
	Models []PublicModel
	// ServesTLS says that the server speaks HTTPS, whoever asked for it.
	ServesTLS bool
	// ConfigVersion is the schema version of the configuration.
	ConfigVersion string
}

// EnvVar is an environment variable of the server: a plain value, or a key of a
// Secret.
type EnvVar struct {
	Name  string
	Value string
	// SecretName and SecretKey are set instead of Value.
	SecretName, SecretKey string
	// FieldPath is the field of the spec that asked for it.
	FieldPath string
}

// PublicModel is a model of the user's. The release decides under which id the
// server serves it.
type PublicModel struct {
	// Path is its field in the spec, Name what stands there.
	Path, Name string
	// ID is what clients send as model: vllm/llama3.2-8b.
	ID string
}

// Renamed says that clients call a model by another name than the spec does.
func (m PublicModel) Renamed() bool { return m.ID != m.Name }

// String tells a user who wrote the name.
func (m PublicModel) String() string {
	return fmt.Sprintf("%s: clients call this model %q", m.Path, m.ID)
}

// Report is what is told about a run, beside its result.
type Report struct {
	// Errors keep the configuration from being rolled out. Each detail stands for
	// itself: value, reason, remedy. An error of type NotFound is a resource whose
	// provider does not exist.
	Errors field.ErrorList
	// Warnings do not.
	Warnings []Finding

	// What Explain reads, made only when asked for.
	root    *yaml.Node
	origins map[*yaml.Node]Origin
}

// Finding is a warning.
type Finding struct {
	// Path is the field of the spec that caused it, empty when none did.
	Path string
	// ConfigPath is the place in the configuration, empty when it has none.
	ConfigPath string
	// Message is a sentence without a full stop.
	Message string
	// Ignored says that something the user configured has no effect.
	Ignored bool
}

// String is the message behind the path it belongs to.
func (f Finding) String() string {
	switch {
	case f.Path != "":
		return f.Path + ": " + f.Message
	case f.ConfigPath != "":
		return f.ConfigPath + ": " + f.Message
	default:
		return f.Message
	}
}
