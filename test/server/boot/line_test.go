//go:build server

package boot

import (
	"slices"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/test/server/corpus"
	"github.com/llamastack/llama-stack-k8s-operator/test/server/realserver"
)

// eachRelease runs a test once for every selected release.
func eachRelease(t *testing.T, test func(t *testing.T, rel *release.Release)) {
	t.Helper()
	releases, err := realserver.Releases()
	if err != nil {
		t.Fatal(err)
	}
	for _, rel := range releases {
		t.Run(rel.Version, func(t *testing.T) {
			t.Parallel()
			test(t, rel)
		})
	}
}

// heavy returns entries for spec.disabled. They disable the providers of a configuration that need model weights or
// PyTorch, because the test environments contain neither of them. An entry is one provider, or a whole API if all its
// providers need them.
func heavy(t *testing.T, rel *release.Release, config []byte) []string {
	t.Helper()
	var parsed struct {
		Providers map[string][]struct {
			ID   string `json:"provider_id"`
			Type string `json:"provider_type"`
		} `json:"providers"`
	}
	if err := yaml.Unmarshal(config, &parsed); err != nil {
		t.Fatalf("read the distribution's configuration: %v", err)
	}
	var disabled []string
	for api, providers := range parsed.Providers {
		var found []string
		for _, provider := range providers {
			if kind, ok := rel.Provider(api, provider.Type); ok && corpus.Heavy(kind) != "" {
				found = append(found, release.CamelCase(api)+"/"+provider.ID)
			}
		}
		if len(found) > 0 && len(found) == len(providers) {
			found = []string{release.CamelCase(api)}
		}
		disabled = append(disabled, found...)
	}
	slices.Sort(disabled)
	return disabled
}
