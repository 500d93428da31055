package node

import (
	"encoding/json"
	"io/fs"
	"os"
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

// TestProgramsReadEverySetting checks that each settings file is at the expected path, and that each value in the
// templates is set.
func TestProgramsReadEverySetting(t *testing.T) {
	s := someSettings(t)
	if err := s.write(); err != nil {
		t.Fatal(err)
	}
	var found []string
	err := filepath.WalkDir(s.Folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(s.Folder, path)
		found = append(found, name)
		data, readErr := os.ReadFile(path)
		if readErr != nil || strings.Contains(string(data), "{{") || strings.Contains(string(data), "<no value>") {
			t.Errorf("%s (%v):\n%s", name, readErr, data)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"certs.d/10.220.3.1:5000/hosts.toml", "cni/10-cluster.conflist", "containerd.toml", "kube-proxy.yaml", "kubelet.yaml",
		"resolv.conf",
	}
	if !slices.Equal(found, want) {
		t.Errorf("the settings are %q, want %q", found, want)
	}
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

// TestNetworkOfPods checks that the configuration of the network plugins is valid JSON with addresses in the cluster's
// plan.
func TestNetworkOfPods(t *testing.T) {
	data, err := someSettings(t).fill("config/10-cluster.conflist")
	if err != nil {
		t.Fatal(err)
	}
	var list struct {
		Plugins []struct {
			Type string `json:"type"`
			IPAM struct {
				Ranges [][]struct {
					Subnet string `json:"subnet"`
				} `json:"ranges"`
			} `json:"ipam"`
		} `json:"plugins"`
	}
	if err := json.Unmarshal(data, &list); err != nil {
		t.Fatalf("%v:\n%s", err, data)
	}
	if len(list.Plugins) == 0 || len(list.Plugins[0].IPAM.Ranges) != 1 ||
		list.Plugins[0].IPAM.Ranges[0][0].Subnet != "10.222.3.0/24" {
		t.Errorf("the range of pod addresses is not the range in the plan:\n%s", data)
	}
}
