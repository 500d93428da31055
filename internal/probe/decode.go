package probe

import "github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"

// Paths of a server, for programs that send their requests without a Prober.
const (
	// VersionPath is the path of the version.
	VersionPath = versionPath
	// ProvidersPath is the path of the providers.
	ProvidersPath = providersPath
)

// ParseVersion parses the response to VersionPath. Its error contains no part of the response.
func ParseVersion(body []byte) (string, error) { return parseVersion(body) }

// ParseProviders parses the response to ProvidersPath, without the settings of the providers. Its error contains no
// part of the response.
func ParseProviders(body []byte) ([]v1alpha2.ProviderInfo, error) { return parseProviders(body) }

// Problem returns a message of the operator for an error message of a provider, which may contain credentials.
func Problem(message string) string { return problem(message) }
