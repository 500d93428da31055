package controlplane

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/state"
)

var somePorts = ports{etcd: 1, etcdPeer: 2, apiServer: 3, controllerManager: 4, scheduler: 5}

// keyed returns a directory with the keys of a control plane.
func keyed(t *testing.T) *state.Folder {
	t.Helper()
	folder, err := state.Create(t.Context(), filepath.Join(t.TempDir(), "cluster"), state.Record{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(folder.Release)
	if _, _, err := writeKeys(folder, alone, alone.url(somePorts), time.Now()); err != nil {
		t.Fatal(err)
	}
	return folder
}

func components(folder *state.Folder) []component {
	return []component{
		etcd(folder, somePorts), apiServer(folder, somePorts, alone, false),
		controllerManager(folder, somePorts), scheduler(folder, somePorts),
	}
}

// TestNothingListensBeyondTheMachine checks that, without a node, every component listens only on the loopback address.
func TestNothingListensBeyondTheMachine(t *testing.T) {
	folder := keyed(t)
	for _, c := range components(folder) {
		listens := false
		for _, arg := range c.args {
			name, value, _ := strings.Cut(arg, "=")
			if strings.Contains(name, "bind-address") || strings.Contains(name, "listen-") {
				listens = true
				if value != loopback && !strings.HasPrefix(value, "https://"+loopback+":") {
					t.Errorf("%s: %s", c.program, arg)
				}
			}
		}
		if !listens {
			t.Errorf("%s has no flag for its address, so it listens on all addresses", c.program)
		}
	}
}

func TestOnlyTheOwnerCanReadKeys(t *testing.T) {
	folder := keyed(t)
	for _, pattern := range []string{"pki/*", Kubeconfig} {
		files, err := filepath.Glob(folder.Path(pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("no file %s (%v)", pattern, err)
		}
		for _, file := range files {
			info, err := os.Stat(file)
			if err != nil {
				t.Fatal(err)
			}
			if info.Mode().Perm() != 0o600 {
				t.Errorf("%s has mode %s", file, info.Mode())
			}
		}
	}
}
