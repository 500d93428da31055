//go:build server

package boot

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/test/server/external"
	"github.com/llamastack/llama-stack-k8s-operator/test/server/realserver"
)

// publishedProvider is a provider in the Python Package Index, with the releases that it supports. For each release,
// test/server/environment contains the versions of the provider's wheels.
type publishedProvider struct {
	name     string
	releases []string
	spec     external.Spec
	entry    string // its configuration
}

var published = []publishedProvider{
	{
		"trustyai-fms",
		[]string{"0.3.5", "0.7.3"},
		external.Spec{API: "safety", Type: "remote::trustyai_fms", Module: "llama_stack_provider_trustyai_fms"},
		"{shields: {}}",
	},
	{
		"lmeval",
		[]string{"0.3.5", "0.7.3"},
		external.Spec{API: "eval", Type: "remote::trustyai_lmeval", Module: "llama_stack_provider_lmeval"},
		"{use_k8s: false, base_url: 'http://127.0.0.1:8321/v1'}",
	},
}

// TestPublishedProviders loads published providers in the servers that they support. It runs only for the releases in
// RELEASES, because it downloads the wheels from the package index.
func TestPublishedProviders(t *testing.T) {
	if !realserver.Named() {
		t.Skip("RELEASES is not set, so the test does not download the wheels")
	}
	eachRelease(t, func(t *testing.T, rel *release.Release) {
		for _, p := range published {
			if slices.Contains(p.releases, rel.Version) {
				t.Run(p.name, func(t *testing.T) { p.load(t, rel) })
			}
		}
	})
}

// load starts the server with the provider, once from an image with a label and once from an image without a label.
func (p publishedProvider) load(t *testing.T, rel *release.Release) {
	t.Helper()
	for _, labeled := range []bool{false, true} {
		stack := externalStack{
			release: rel, api: p.spec.API, entry: p.entry, labeled: labeled,
			kind: p.spec.Type, module: p.spec.Module, image: publishedImage(t, p.name, rel.Version, p.spec),
		}
		server, err := stack.start(t)
		if err != nil {
			t.Fatal(err)
		}
		server.checkProvider(t, provider{API: p.spec.API, ID: "outside", Type: p.spec.Type})
		server.stop()
	}
}

// publishedImage returns an image of a published provider, as a user would build it.
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
