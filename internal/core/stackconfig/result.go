package stackconfig

import (
	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/externalprovider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/baseconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/draft"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/external"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/resources"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/secretvalue"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/storage"
)

// Input is the complete input from which a configuration is generated.
type Input struct {
	// Intent is the user's intent.
	Intent *intent.Intent
	// Base is the configuration of the distribution. Generate does not change it.
	Base *baseconfig.Base
	// Release is the server release that will read the configuration.
	Release *release.Release
	// ReleaseUnknown reports whether the release of the server is unknown. Release is then the best guess. Generate also
	// writes the names that other releases use for the same settings, so that the configuration works in all releases from
	// 0.3 on. If Release does not accept a value in the base, Generate reports a warning instead of an error.
	ReleaseUnknown bool
	// Published reports whether the image is a published one. In another image, a provider of a type that Release does not
	// have causes a warning instead of an error.
	Published bool
	// OwnBase reports whether the user wrote the base. If so, Generate warns about every key of the base that Release
	// ignores.
	OwnBase bool
	// Directory is the directory of the running pods' SQLite files, as written in the configuration. Empty means that no
	// pods run or that the directory is unknown. Generate uses the directory for a base that does not set the paths of the
	// files.
	Directory string
	// Packages contains the metadata in the images of external providers, keyed by provider ID. A provider without an
	// entry has the type externalprovider.UnknownType until its pod starts.
	Packages map[string]*externalprovider.Package
	// KVTable is the table of a key-value store in PostgreSQL that holds the stack's data. Empty means that no such table
	// exists or that its name is unknown.
	KVTable string
}

// Result is a generated configuration.
type Result struct {
	// Config is the content of config.yaml.
	Config []byte
	// Hash is the SHA-256 of Config in hex.
	Hash string
	// Env are the variables that the configuration reads, sorted by name.
	Env []draft.EnvVar
	// Derived are the entries of the Secret <name>-storage to which Env refers, sorted by key. If Derived is empty, the
	// Secret does not exist.
	Derived []secretvalue.Derived
	// Directories are the directories that must exist before the server starts, because the server does not create them.
	// The paths can contain references to variables, as in Config.
	Directories []string
	// Registry describes where the server stores the resources that it registered. Nil means that the release accepts
	// changed resources without conflict (0.2).
	Registry *storage.Registry
	// ProviderCount is the number of providers in the configuration, and ResourceCount is the number of resources that it
	// registers. Neither counts entries that exist only when a variable is set.
	ProviderCount, ResourceCount int
	// Models are the user's models with the names that clients use, in the order of the spec. The list is nil when the
	// user has no models, or when the release is unknown.
	Models []resources.PublicModel
	// External are the external providers that the pods install, in installation order.
	External []ExternalProvider
	// Dropped is the set of the base's providers that spec.distribution.baseProviders removed. A key consists of the API
	// and the ID.
	Dropped map[[2]string]bool
	// ServesTLS reports whether the server serves HTTPS. Either a field of the spec or the base can enable it.
	ServesTLS bool
	// ConfigVersion is the schema version of the configuration.
	ConfigVersion string
}

// These types from the step packages are part of this package's API.
type (
	// EnvVar is an environment variable of the server.
	EnvVar = draft.EnvVar
	// Report holds the errors, the warnings and the origins of a run.
	Report = draft.Report
	// Finding is a warning.
	Finding = draft.Finding
	// Explained is one value in the configuration, with its origin.
	Explained = draft.Explained
	// Registry describes where the server stores the resources that it registered.
	Registry = storage.Registry
	// ExternalProvider is an external provider in the configuration, with the known facts about its type.
	ExternalProvider = external.Installed
	// PublicModel is one of the user's models, with the name that clients use.
	PublicModel = resources.PublicModel
)

// Explain lists every scalar and empty collection of a configuration, in order. All of them have the same origin.
func Explain(root *yaml.Node, origin string) []Explained { return draft.Explain(root, origin) }
