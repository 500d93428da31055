package starter

import (
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/dryrun"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/provider"
)

// These constants are the kinds of state storage.
const (
	StoreNone     = "none"
	StoreSQLite   = "sqlite"
	StorePostgres = "postgres"
	StoreRedis    = "redis"
)

// Stores returns the kinds of state storage.
func Stores() []string { return []string{StoreNone, StoreSQLite, StorePostgres, StoreRedis} }

// These constants are the defaults for empty answers.
const (
	DefaultName          = "my-stack"
	DefaultDistribution  = "starter"
	DefaultProvider      = "vllm"
	DefaultVolumeSize    = "10Gi"
	DefaultStoreEndpoint = "redis:6379"
)

// These constants are the flags for the answers, as messages name them.
const (
	FlagName          = "NAME"
	FlagNamespace     = "--namespace"
	FlagDistribution  = "--distribution"
	FlagRelease       = "--release"
	FlagProvider      = "--provider"
	FlagEndpoint      = "--endpoint"
	FlagSecret        = "--secret"
	FlagSetting       = "--setting"
	FlagModel         = "--model"
	FlagStore         = "--store"
	FlagVolumeSize    = "--volume-size"
	FlagStoreEndpoint = "--store-endpoint"
	FlagStoreSecret   = "--store-secret"
	FlagExpose        = "--expose"
)

// Answers are a user's unchecked answers.
type Answers struct {
	Name, Namespace       string
	Distribution, Release string
	// Provider is the short or full type of the model provider.
	Provider string
	// Endpoint is the URL of the provider.
	Endpoint string
	// Secret is the NAME/KEY of the provider's API key. Empty means no API key.
	Secret string
	// Settings are the provider's other keys with their values, as KEY=VALUE.
	Settings []string
	Models   []string
	// Store is one of Stores. VolumeSize is the size of the volume. StoreEndpoint is the Redis address. StoreSecret is the
	// NAME/KEY of the PostgreSQL connection string or the Redis password.
	Store, VolumeSize, StoreEndpoint, StoreSecret string
	// Expose is the host name at which clients outside the cluster reach the server. Empty means that clients reach the
	// server only inside the cluster.
	Expose string
}

// Plan contains the checked answers.
type Plan struct {
	Answers
	// Kind is the type of the provider in the release. It has no name if the release does not have the type.
	Kind *provider.Type

	secret, storeSecret *secretKey
	settings            []setting
	errors              []*Error
	// outcome is the result of the pipeline for the manifest.
	outcome dryrun.Outcome
}

// secretKey is a key of a Secret.
type secretKey struct{ name, key string }

// setting is a key of the provider and its value as YAML.
type setting struct{ key, value string }

// FlagOf returns the flag that sets a field, and false if there is no such flag.
func FlagOf(path string) (string, bool) {
	for _, flag := range []struct{ path, flag string }{
		{"metadata.name", FlagName},
		{"spec.distribution.version", FlagRelease},
		{"spec.distribution", FlagDistribution},
		{"spec.providers.inference.endpoint", FlagEndpoint},
		{"spec.providers.inference.apiKey", FlagSecret},
		{"spec.providers.inference.settings", FlagSetting},
		{"spec.providers.inference", FlagProvider},
		{"spec.resources.models", FlagModel},
		{"spec.storage.kv.endpoint", FlagStoreEndpoint},
		{"spec.storage", FlagStore},
		{"spec.workload.storage", FlagVolumeSize},
		{"spec.networking", FlagExpose},
	} {
		if strings.HasPrefix(path, flag.path) {
			return flag.flag, true
		}
	}
	return "", false
}

// KindOf returns the type of the provider in the answers, and false for an unknown type.
func (a Answers) KindOf() (*provider.Type, bool) {
	p := Plan{Answers: a}
	return p.rel().ResolveType(inference, a.Provider)
}
