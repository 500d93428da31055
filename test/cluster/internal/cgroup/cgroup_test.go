package cgroup

import (
	"os"
	"path/filepath"
	"testing"
)

// hierarchies creates stand-ins for two hierarchies of version 1.
func hierarchies(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for _, name := range []string{"memory", "pids"} {
		if err := os.Mkdir(filepath.Join(root, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestMakeAndRemove(t *testing.T) {
	root := hierarchies(t)
	g := of(root, "/state")
	if err := g.Make(); err != nil {
		t.Fatal(err)
	}
	if err := g.Make(); err != nil {
		t.Errorf("make a group that already exists: %v", err)
	}
	if err := os.MkdirAll(filepath.Join(root, "memory", g.Name, "kubepods", "pod"), 0o700); err != nil {
		t.Fatal(err)
	}
	neighbour := of(root, "/other")
	if err := neighbour.Make(); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time, there is nothing to remove
		if err := g.Remove(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"memory", "pids"} {
		left, err := os.ReadDir(filepath.Join(root, name))
		if err != nil || len(left) != 1 || "/"+left[0].Name() != neighbour.Name {
			t.Errorf("%s contains %v (%v), want only the other cluster's group", name, left, err)
		}
	}
}

func TestMakeInheritsCPUs(t *testing.T) {
	root := hierarchies(t)
	for _, file := range []string{"cpuset.cpus", "cpuset.mems"} {
		if err := os.WriteFile(filepath.Join(root, "memory", file), []byte("0-1\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	g := of(root, "/state")
	if err := g.Make(); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(root, "memory", g.Name, "cpuset.cpus")); err != nil ||
		string(got) != "0-1\n" {
		t.Errorf("the new group has the CPUs %q (%v)", got, err)
	}
}

func TestOneHierarchy(t *testing.T) {
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "cgroup.controllers"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	g := of(root, "/state")
	if err := g.Make(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(root, g.Name)); err != nil {
		t.Error(err)
	}
}
