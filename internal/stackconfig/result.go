package stackconfig

import (
	"github.com/llamastack/llama-stack-k8s-operator/internal/externalprovider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/baseconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/draft"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/external"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/resources"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/secretvalue"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/storage"
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
	// Packages are what the images of external providers say of themselves, by the provider's id. A provider without an
	// entry has the type externalprovider.UnknownType until its pod starts.
	Packages map[string]*externalprovider.Package
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
	Env []draft.EnvVar
	// Derived are the entries of the Secret <name>-storage that Env refers to,
	// sorted by key; the Secret does not exist when there are none.
	Derived []secretvalue.Derived
	// Directories have to exist before the server starts, which makes most of its
	// directories but not these. They are spelt as in Config, variables included.
	Directories []string
	// Registry is where the server keeps what it registered. Nil when the release takes
	// changed resources as they come (0.2).
	Registry *storage.Registry
	// ProviderCount counts the providers in the configuration, ResourceCount what
	// it registers. Both leave out what exists only when a variable is set.
	ProviderCount, ResourceCount int
	// Models are the user's models as clients call them, in written order; nil when
	// the release of the server is not known.
	Models []resources.PublicModel
	// External are the external providers that the pods install, in the order of their installation.
	External []ExternalProvider
	// ServesTLS says that the server speaks HTTPS, whoever asked for it.
	ServesTLS bool
	// ConfigVersion is the schema version of the configuration.
	ConfigVersion string
}

// What the steps make, as callers of this package know it.
type (
	// EnvVar is an environment variable of the server.
	EnvVar = draft.EnvVar
	// Report is what is told about a run, beside its result.
	Report = draft.Report
	// Finding is a warning.
	Finding = draft.Finding
	// Explained is one value of the configuration with its origin.
	Explained = draft.Explained
	// Registry describes where the server keeps what it registered.
	Registry = storage.Registry
	// ExternalProvider is an external provider of the configuration, with what is known of its type.
	ExternalProvider = external.Installed
	// PublicModel is a model of the user's as clients call it.
	PublicModel = resources.PublicModel
)
