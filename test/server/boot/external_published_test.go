//go:build server

package boot

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/test/server/external"
	"github.com/llamastack/llama-stack-k8s-operator/test/server/realserver"
)

// published are providers of the package index, each with the releases that it is for. Their wheels are locked in
// test/server/environment.
var published = []struct {
	name     string
	releases []string
	spec     external.Spec
	entry    string
	others   map[string]string
}{
	{
		"trustyai-fms",
		[]string{"0.3.5", "0.7.3"},
		external.Spec{API: "safety", Type: "remote::trustyai_fms", Module: "llama_stack_provider_trustyai_fms"},
		"{shields: {}}",
		nil,
	},
	{
		"lmeval",
		[]string{"0.3.5", "0.7.3"},
		external.Spec{API: "eval", Type: "remote::trustyai_lmeval", Module: "llama_stack_provider_lmeval"},
		"{use_k8s: false, base_url: 'http://127.0.0.1:8321/v1'}",
		map[string]string{},
	},
}

// TestPublishedProviders loads providers that others have published, in the servers that they are for. It runs for the
// releases that RELEASES names: their wheels come from the package index.
func TestPublishedProviders(t *testing.T) {
	if !realserver.Named() {
		t.Skip("RELEASES names no releases")
	}
	for _, p := range published {
		t.Run(p.name, func(t *testing.T) {
			eachRelease(t, func(t *testing.T, rel *release.Release) {
				if !slices.Contains(p.releases, rel.Version) {
					t.Skipf("it is for %q", p.releases)
				}
				for _, labelled := range []bool{false, true} {
					stack := externalStack{
						release: rel, api: p.spec.API, entry: p.entry, others: p.others, labelled: labelled,
						kind: p.spec.Type, module: p.spec.Module, image: publishedImage(t, p.name, rel.Version, p.spec),
					}
					server, err := stack.start(t)
					if err != nil {
						t.Fatal(err)
					}
					server.checkProvider(t, provider{API: p.spec.API, ID: "outside", Type: p.spec.Type})
					server.stop()
				}
			})
		})
	}
}

// publishedImage is the image that somebody would make of a published provider.
func publishedImage(t *testing.T, name, version string, spec external.Spec) external.Image {
	t.Helper()
	dir, err := realserver.ProviderWheels(t.Context(), name, version)
	if err != nil {
		t.Fatal(err)
	}
	image := external.New(spec)
	wheels, err := filepath.Glob(filepath.Join(dir, "*.whl"))
	if err != nil || len(wheels) == 0 {
		t.Fatalf("%s has no wheels (%v)", dir, err)
	}
	for _, wheel := range wheels {
		content, err := os.ReadFile(wheel)
		if err != nil {
			t.Fatal(err)
		}
		image["packages/"+filepath.Base(wheel)] = string(content)
	}
	return image
}
