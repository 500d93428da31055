package controlplane

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/state"
)

// script writes a shell script that replaces a component.
func script(t *testing.T, folder, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(folder, name), []byte("#!/bin/sh\n"+text), 0o700); err != nil {
		t.Fatal(err)
	}
}

// runWith runs a control plane in which a script that only sleeps replaces etcd, and the given script replaces the API
// server. When the control plane has ended, runWith returns the folder and the error.
func runWith(t *testing.T, ctx context.Context, apiServerScript string, startup time.Duration) (*state.Folder, error) { //nolint:revive // t comes first in test code
	t.Helper()
	programs := t.TempDir()
	script(t, programs, "etcd", "exec sleep 600\n")
	script(t, programs, "kube-apiserver", apiServerScript)
	folder, err := state.Create(ctx, filepath.Join(t.TempDir(), "cluster"), state.Record{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(folder.Release)
	err = Run(ctx, folder, Options{Programs: programs}, startup, Events{
		Progress: func(string) {},
		Ready: func() error {
			t.Error("a control plane without an API server is ready")
			return nil
		},
	})
	for _, component := range folder.Record().Components {
		if component.Process.Alive() {
			t.Errorf("%s is alive after Run", component.Name)
		}
	}
	if len(folder.Record().Components) != 2 {
		t.Errorf("the record contains %d components, want 2", len(folder.Record().Components))
	}
	return folder, err
}

func TestRunReportsWhyAComponentEnded(t *testing.T) {
	_, err := runWith(t, t.Context(), "echo 'bind: address already in use' >&2; exit 7\n", time.Minute)
	for _, want := range []string{
		"kube-apiserver ended (exit status 7)", "kube-apiserver.log",
		"bind: address already in use",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
}

func TestRunGivesUpOnASlowStart(t *testing.T) {
	_, err := runWith(t, t.Context(), "exec sleep 600\n", 300*time.Millisecond)
	if err == nil || !strings.Contains(err.Error(), "not ready within 300ms") ||
		!strings.Contains(err.Error(), "/readyz") {
		t.Errorf("got %v, want an error with the limit and the component", err)
	}
}

func TestComponentsSeeNothingOfTheUsersEnvironment(t *testing.T) {
	t.Setenv("ETCD_LISTEN_CLIENT_URLS", "http://0.0.0.0:2379")
	t.Setenv("HTTPS_PROXY", "http://proxy.example.com")
	folder, _ := runWith(t, t.Context(), "env; exit 1\n", time.Minute)
	data, err := os.ReadFile(folder.Path("log", "kube-apiserver.log"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(data), "HOME="+folder.Path()) {
		t.Errorf("the environment of the component is wrong:\n%s", data)
	}
	for _, name := range []string{"ETCD_LISTEN", "PROXY"} {
		if strings.Contains(string(data), name) {
			t.Errorf("a component has variables %s* of the user", name)
		}
	}
}

func TestAwait(t *testing.T) {
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked.Add(1) < 3 {
			w.WriteHeader(http.StatusForbidden)
		}
	}))
	t.Cleanup(server.Close)
	if err := await(t.Context(), server.Client(), server.URL); err != nil || asked.Load() != 3 {
		t.Errorf("await = %v after %d requests, want nil after 3", err, asked.Load())
	}

	asked.Store(-1000)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := await(ctx, server.Client(), server.URL); err == nil || !strings.Contains(err.Error(), "403") {
		t.Errorf("await = %v, want the last answer", err)
	}
}
