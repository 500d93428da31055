package corpus

import (
	"cmp"
	"slices"

	"go.yaml.in/yaml/v3"
)

// Types are the provider types of a configuration that exist in an environment: inference/remote::vllm.
func Types(config []byte, env map[string]string) []string {
	var types []string
	for _, p := range providersOf(config) {
		if p.condition == "" || env[p.condition] != "" {
			types = append(types, p.api+"/"+p.providerType)
		}
	}
	slices.Sort(types)
	return slices.Compact(types)
}

// Backends are the types of the storage backends of a configuration: kv_redis.
func Backends(config []byte) []string {
	var document struct {
		Storage struct {
			Backends map[string]struct {
				Type string `yaml:"type"`
			} `yaml:"backends"`
		} `yaml:"storage"`
	}
	if err := yaml.Unmarshal(config, &document); err != nil {
		return nil
	}
	var types []string
	for _, backend := range document.Storage.Backends {
		types = append(types, backend.Type)
	}
	slices.Sort(types)
	return slices.Compact(types)
}

// Models are the names that providers know the models by that a configuration registers.
func Models(config []byte) []string {
	type model struct {
		ID         string `yaml:"model_id"`
		ProviderID string `yaml:"provider_model_id"`
	}
	var document struct {
		Registered struct {
			Models []model `yaml:"models"`
		} `yaml:"registered_resources"`
		Models []model `yaml:"models"`
	}
	if err := yaml.Unmarshal(config, &document); err != nil {
		return nil
	}
	var names []string
	for _, m := range append(document.Registered.Models, document.Models...) {
		names = append(names, cmp.Or(m.ProviderID, m.ID))
	}
	slices.Sort(names)
	return slices.Compact(names)
}
