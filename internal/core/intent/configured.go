package intent

import "github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"

// Configured returns the first field of a spec that contains settings for the server's configuration, as the name of a
// field below spec. It returns an empty string if the spec has no such settings. It ignores overrideConfig, the number
// of workers and the certificate.
func Configured(spec *v1alpha2.LlamaStackDistributionSpec) string {
	for _, field := range []struct {
		name  string
		given bool
	}{
		{"providers", spec.Providers != nil},
		{"resources", spec.Resources != nil},
		{"storage", spec.Storage != nil},
		{"disabled", len(spec.Disabled) > 0},
		{"settings", spec.Settings != nil},
		{"removeSettings", len(spec.RemoveSettings) > 0},
		{"externalProviders", len(spec.ExternalProviders) > 0},
		{"baseConfig", spec.BaseConfig != nil},
		{"distribution.baseProviders", spec.Distribution.BaseProviders == v1alpha2.BaseProvidersRequired},
	} {
		if field.given {
			return field.name
		}
	}
	return ""
}
