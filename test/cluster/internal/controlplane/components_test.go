package controlplane

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/pki"
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

// TestKeyFilesOfTheFlagsExist checks that every key file to which a flag refers is written.
func TestKeyFilesOfTheFlagsExist(t *testing.T) {
	folder := keyed(t)
	found := 0
	for _, c := range components(folder) {
		for _, arg := range c.args {
			_, value, _ := strings.Cut(arg, "=")
			if !strings.HasPrefix(value, folder.Path("pki")+"/") {
				continue
			}
			found++
			if _, err := os.Stat(value); err != nil {
				t.Errorf("%s: %s: %v", c.program, arg, err)
			}
		}
	}
	if found < 20 {
		t.Errorf("only %d flags refer to a key file; the test probably reads the wrong flags", found)
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

func TestAuditLogIsOptional(t *testing.T) {
	folder := keyed(t)
	for _, audit := range []bool{false, true} {
		flags := strings.Join(apiServer(folder, somePorts, alone, audit).args, " ")
		if got := strings.Contains(flags, "--audit-log-path="+folder.Path("log", "audit.log")); got != audit {
			t.Errorf("the audit log is requested: %t, but the flags contain it: %t", audit, got)
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

func TestKubeconfig(t *testing.T) {
	got := string(kubeconfig("https://127.0.0.1:3", []byte("authority"),
		pki.Pair{Certificate: []byte("certificate"), Key: []byte("key")}))
	want := `apiVersion: v1
kind: Config
clusters:
- name: llama-stack-test
  cluster:
    server: https://127.0.0.1:3
    certificate-authority-data: ` + base64.StdEncoding.EncodeToString([]byte("authority")) + `
users:
- name: llama-stack-test
  user:
    client-certificate-data: ` + base64.StdEncoding.EncodeToString([]byte("certificate")) + `
    client-key-data: ` + base64.StdEncoding.EncodeToString([]byte("key")) + `
contexts:
- name: llama-stack-test
  context:
    cluster: llama-stack-test
    user: llama-stack-test
current-context: llama-stack-test
`
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}
