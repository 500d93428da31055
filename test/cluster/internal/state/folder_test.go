package state

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/process"
)

var sample = Record{Kubernetes: "v1.37.2", Options: "port=0", Started: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}

// limited returns a context with a time limit, so that the test fails instead of waiting forever.
func limited(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func create(t *testing.T, path string) *Folder {
	t.Helper()
	f, err := Create(limited(t), path, sample)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Release)
	return f
}

// sleeper starts a process that sleeps, and reaps it when it ends.
func sleeper(t *testing.T) process.Identity {
	t.Helper()
	command := exec.CommandContext(t.Context(), "sleep", "600")
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { _ = command.Wait() }() // the error only reports that the process was killed
	identity, err := process.Identify(command.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	return identity
}

func absent(t *testing.T, path string) {
	t.Helper()
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s still exists (%v)", path, err)
	}
}

func down(t *testing.T, path string) bool {
	t.Helper()
	was, err := Down(limited(t), path, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	return was
}

func TestFolderIsPrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cluster")
	create(t, path)
	for _, name := range []string{".", "pki", "log", recordName} {
		info, err := os.Stat(filepath.Join(path, name))
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %s, so other users can read it", name, info.Mode())
		}
	}
}

func TestReadAbsent(t *testing.T) {
	for name, path := range map[string]string{
		"no folder":    filepath.Join(t.TempDir(), "none"),
		"empty folder": t.TempDir(),
	} {
		if _, err := Read(path); !errors.Is(err, ErrAbsent) {
			t.Errorf("%s: got %v, want ErrAbsent", name, err)
		}
	}
}

func TestOnlyOneHoldsAFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cluster")
	first := create(t, path)
	if _, err := Create(limited(t), path, sample); err == nil || !strings.Contains(err.Error(), "running or starting") {
		t.Fatalf("a second Create: got %v", err)
	}
	first.Release()
	create(t, path)
}

// TestForeignFolderIsNotRemoved checks that a user's files are not removed if --dir is wrong.
func TestForeignFolderIsNotRemoved(t *testing.T) {
	path := t.TempDir()
	file := filepath.Join(path, "thesis.tex")
	if err := os.WriteFile(file, []byte("years of work"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(limited(t), path, sample); err == nil || !strings.Contains(err.Error(), "thesis.tex") {
		t.Errorf("Create: got %v, want an error naming the file", err)
	}
	if _, err := Down(limited(t), path, 0); err == nil || !strings.Contains(err.Error(), "thesis.tex") {
		t.Errorf("Down: got %v, want an error naming the file", err)
	}
	entries, err := os.ReadDir(path)
	if err != nil || len(entries) != 1 {
		t.Errorf("the folder contains %v (%v), want only the user's file", entries, err)
	}
}

func TestDownFailsOnBrokenRecord(t *testing.T) {
	path := t.TempDir()
	if err := os.WriteFile(filepath.Join(path, recordName), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Down(limited(t), path, 0); err == nil {
		t.Error("Down removed a folder whose record it could not read")
	}
}

// TestDownAfterAnEarlyKill covers states that remain when a process that creates or removes a directory is killed.
func TestDownAfterAnEarlyKill(t *testing.T) {
	for name, files := range map[string][]string{
		"nothing":           nil,
		"lock only":         {lockName},
		"incomplete record": {lockName, recordName + ".new"},
		"record":            {lockName, recordName},
		"everything":        {lockName, recordName, "kubeconfig", "pki/ca.key", "etcd/member/wal/0.wal"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "cluster")
			if err := os.Mkdir(path, 0o700); err != nil {
				t.Fatal(err)
			}
			for _, file := range files {
				fill(t, filepath.Join(path, file))
			}
			if !down(t, path) {
				t.Error("Down does not report a control plane")
			}
			absent(t, path)
			if down(t, path) {
				t.Error("the second Down reports a control plane")
			}
		})
	}
}

// fill writes a file that a control plane could have written.
func fill(t *testing.T, file string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if filepath.Base(file) == recordName {
		if err := write(filepath.Dir(file), sample); err != nil {
			t.Fatal(err)
		}
		return
	}
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestDownEndsComponentsThatOutlivedTheirSupervisor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cluster")
	f := create(t, path)
	left, stranger := sleeper(t), sleeper(t)
	reused := stranger
	reused.Start--
	err := f.Update(func(r *Record) {
		r.Components = []Component{{Name: "etcd", Process: left}, {Name: "kube-apiserver", Process: reused}}
	})
	if err != nil {
		t.Fatal(err)
	}
	f.Release() // if a supervisor is killed, the kernel releases its lock

	if !down(t, path) {
		t.Error("Down does not report a control plane")
	}
	absent(t, path)
	if left.Alive() {
		t.Error("a component is alive after Down")
	}
	if !stranger.Alive() {
		t.Error("Down killed a process that has the reused ID of a component")
	}
}

func TestCreateClearsAwayAKilledControlPlane(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cluster")
	f := create(t, path)
	left := sleeper(t)
	if err := f.Update(func(r *Record) { r.Components = []Component{{Name: "etcd", Process: left}} }); err != nil {
		t.Fatal(err)
	}
	fill(t, f.Path("etcd", "member", "old"))
	f.Release()

	create(t, path)
	absent(t, filepath.Join(path, "etcd"))
	if left.Alive() {
		t.Error("a component of the old control plane is alive")
	}
	if got, err := Read(path); err != nil || len(got.Components) != 0 {
		t.Errorf("the new record is %+v, %v", got, err)
	}
}

func TestDownEndsTheSupervisor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cluster")
	f := create(t, path)
	supervisor := sleeper(t)
	if err := f.Update(func(r *Record) { r.Supervisor = supervisor }); err != nil {
		t.Fatal(err)
	}
	if !Supervised(f.Record()) {
		t.Error("a running supervisor is not detected")
	}
	go func() { // the kernel releases the lock when its holder ends
		_ = supervisor.Wait(context.WithoutCancel(t.Context()))
		f.Release()
	}()
	if !down(t, path) {
		t.Error("Down does not report a control plane")
	}
	absent(t, path)
	if supervisor.Alive() || Supervised(Record{Supervisor: supervisor}) {
		t.Error("the supervisor is alive after Down")
	}
}

func TestDownGivesUpOnAHolderItDoesNotKnow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cluster")
	create(t, path)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := Down(ctx, path, 0); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v, want an error naming the folder", err)
	}
}
