package corpus

import (
	"cmp"
	"slices"

	"go.yaml.in/yaml/v3"
)

// Types returns the provider types, such as inference/remote::vllm, of those providers in a configuration that an
// environment enables.
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

// Backends returns the types of the storage backends in a configuration, such as kv_redis.
func Backends(config []byte) []string {
	var document struct {
		Storage struct {
			Backends map[string]inlineBackend `yaml:"backends"`
		} `yaml:"storage"`
		Metadata  inlineBackend `yaml:"metadata_store"`
		Inference inlineBackend `yaml:"inference_store"`
		Providers map[string][]struct {
			Config map[string]yaml.Node `yaml:"config"`
		} `yaml:"providers"`
	}
	if err := yaml.Unmarshal(config, &document); err != nil {
		return nil
	}
	var types []string
	for _, backend := range document.Storage.Backends {
		types = append(types, backend.Type)
	}
	types = append(types, "kv_"+document.Metadata.Type, "sql_"+document.Inference.Type)
	for _, providers := range document.Providers {
		for i := range providers {
			for _, value := range providers[i].Config {
				var store inlineBackend
				if value.Decode(&store) == nil && store.Host != "" {
					types = append(types, "kv_"+store.Type)
				}
			}
		}
	}
	slices.Sort(types)
	return slices.Compact(types)
}

// inlineBackend is a backend of release 0.2. It is part of the store that uses it, and its type does not include the
// family of the backend.
type inlineBackend struct {
	Type string `yaml:"type"`
	Host string `yaml:"host"`
}

// Models returns the models that a configuration registers, under the names that the providers use.
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
