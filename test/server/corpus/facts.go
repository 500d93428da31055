package corpus

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

// Facts returns the parts of a line's data that a configuration can contain: the provider types and their keys, and the
// backends, stores, kinds of resources and APIs.
func Facts(rel *release.Release) []string {
	var facts []string
	for _, api := range rel.APIs() {
		types := rel.ProviderTypes(api)
		for _, name := range types {
			kind, _ := rel.Provider(api, name)
			facts = append(facts, "provider "+api+"/"+name)
			for i := range kind.Config.Keys {
				facts = append(facts, fmt.Sprintf("key %s/%s %s", api, name, kind.Config.Keys[i].Name))
			}
		}
		// An API without a provider cannot be served.
		if len(types) > 0 {
			facts = append(facts, "api "+api)
		}
	}
	for _, backend := range rel.Storage.Backends {
		facts = append(facts, "backend "+backend.Type)
	}
	for i := range rel.Storage.Stores {
		facts = append(facts, "store "+rel.Storage.Stores[i].Name)
	}
	for _, resource := range rel.Resources() {
		facts = append(facts, "resource "+resource.Kind)
	}
	slices.Sort(facts)
	return slices.Compact(facts)
}

// shownConfig is the part of a configuration that Shown reads.
type shownConfig struct {
	APIs      []string `yaml:"apis"`
	Providers map[string][]struct {
		Type   string         `yaml:"provider_type"`
		Config map[string]any `yaml:"config"`
	} `yaml:"providers"`
	Storage struct {
		Backends map[string]struct {
			Type string `yaml:"type"`
		} `yaml:"backends"`
		Stores map[string]any `yaml:"stores"`
	} `yaml:"storage"`
	Resources map[string][]any `yaml:"registered_resources"`
	Others    map[string]any   `yaml:",inline"`
}

// Shown returns the facts of a line that are part of a configuration.
func Shown(rel *release.Release, config []byte) ([]string, error) {
	var c shownConfig
	if err := yaml.Unmarshal(config, &c); err != nil {
		return nil, fmt.Errorf("read the generated configuration: %w", err)
	}
	var shown []string
	for _, api := range c.APIs {
		shown = append(shown, "api "+api)
	}
	for api, entries := range c.Providers {
		for _, entry := range entries {
			shown = append(shown, "provider "+api+"/"+entry.Type)
			for key := range entry.Config {
				shown = append(shown, fmt.Sprintf("key %s/%s %s", api, entry.Type, key))
			}
		}
	}
	for _, backend := range c.Storage.Backends {
		shown = append(shown, "backend "+backend.Type)
	}
	for name := range c.Storage.Stores {
		shown = append(shown, "store "+name)
	}
	for _, resource := range rel.Resources() {
		list, _ := c.Others[resource.Kind].([]any)
		if len(list) > 0 || len(c.Resources[resource.Kind]) > 0 {
			shown = append(shown, "resource "+resource.Kind)
		}
	}
	return shown, nil
}

// Obsolete reports whether a fact is about a key that must not be set, because it is deprecated, or inherited and not
// read.
func Obsolete(rel *release.Release, fact string) bool {
	at, name, _ := strings.Cut(strings.TrimPrefix(fact, "key "), " ")
	api, providerType, _ := strings.Cut(at, "/")
	kind, ok := rel.Provider(api, providerType)
	if !ok {
		return false
	}
	key, ok := kind.Config.Key(name)
	return ok && (key.Deprecated || key.Internal)
}
