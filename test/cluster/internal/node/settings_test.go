package node

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/network"
	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/state"
)

func someSettings(t *testing.T) settings {
	t.Helper()
	folder, err := state.Create(t.Context(), filepath.Join(t.TempDir(), "cluster"), state.Record{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(folder.Release)
	return newSettings(folder, network.Plan{Slot: 3})
}

// TestManifestsPullFromTheClustersOwnRegistry checks that every image comes from the cluster's own registry.
func TestManifestsPullFromTheClustersOwnRegistry(t *testing.T) {
	data, err := someSettings(t).manifests()
	if err != nil {
		t.Fatal(err)
	}
	pulled := 0
	for line := range strings.Lines(string(data)) {
		image, found := strings.CutPrefix(strings.TrimSpace(line), "image: ")
		if !found {
			continue
		}
		pulled++
		name, tag, _ := strings.Cut(strings.TrimPrefix(strings.Trim(image, `"`), "10.220.3.1:5000/"), ":")
		if !slices.Contains(images, name) || tag != "1" {
			t.Errorf("the image %s is not pushed", image)
		}
	}
	if pulled < 2 {
		t.Errorf("only %d images are in the manifests; the test probably reads the wrong files", pulled)
	}
	if !strings.Contains(string(data), `clusterIP: "10.221.48.10"`) {
		t.Error("the address of the name server differs from the one in the kubelet's settings")
	}
}
