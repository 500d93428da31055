//go:build server

package boot

import (
	"maps"
	"slices"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

// keptProviders lists the providers of a release's starter that the retention tests use, grouped by API. A nil list
// means all providers of the API. The server starts faster with fewer providers.
var keptProviders = map[string][]string{
	"vector_io":       {"faiss"},
	"files":           nil,
	"file_processors": nil,
	"safety":          {"llama-guard"},
	"tool_runtime":    {"brave-search"},
	"scoring":         {"basic"},
}

// retentionBase returns the release's starter with a few of its providers. The result registers the given vector
// stores.
func retentionBase(t *testing.T, rel *release.Release, vectorProviders []string, vectorStores ...any) []byte {
	t.Helper()
	config := map[string]any{}
	if err := yaml.Unmarshal(resolve(t, rel, "starter").Base, &config); err != nil {
		t.Fatalf("read the starter: %v", err)
	}
	all, _ := config["providers"].(map[string]any)
	providers, apis := map[string]any{"inference": []any{}}, []any{"inference"}
	for _, api := range slices.Sorted(maps.Keys(keptProviders)) {
		wanted := keptProviders[api]
		entries, ok := all[api].([]any)
		if !ok {
			continue
		}
		if api == "vector_io" {
			wanted = vectorProviders
		}
		providers[api] = slices.DeleteFunc(entries, func(entry any) bool {
			id, _ := entry.(map[string]any)["provider_id"].(string)
			return wanted != nil && !slices.Contains(wanted, id)
		})
		apis = append(apis, api)
	}
	config["providers"], config["apis"] = providers, apis
	config["registered_resources"] = map[string]any{"vector_stores": vectorStores}
	// These sections refer to providers and models that no longer exist.
	delete(config, "vector_stores")
	delete(config, "safety")
	data, err := yaml.Marshal(config)
	if err != nil {
		t.Fatalf("write the base: %v", err)
	}
	return data
}
