package line

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/repository"
)

// writeLine writes the module of a line.
func writeLine(t *testing.T, folder, name, module string) {
	t.Helper()
	dir := filepath.Join(folder, "k8s-"+name)
	if err := os.MkdirAll(dir, 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(module), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestLoad(t *testing.T) {
	folder := t.TempDir()
	writeLine(t, folder, "1.30", "module x\n\nreplace k8s.io/kubernetes => k8s.io/kubernetes v0.0.1\n\nrequire (\n\tk8s.io/api v0.30.1\n\tk8s.io/kubernetes v1.30.7 // indirect\n)\n")
	writeLine(t, folder, "1.31", "module x\n\nrequire k8s.io/kubernetes v1.31.2\nrequire go.etcd.io/etcd/server/v3 v3.5.1\n")
	writeLine(t, folder, "1.32", "module x\n")

	for _, test := range []struct{ name, version, etcd, failure string }{
		{name: "1.30", version: "v1.30.7"},
		{name: "1.31", version: "v1.31.2", etcd: "v3.5.1"},
		{name: "1.32", failure: "does not require k8s.io/kubernetes"},
		{name: "1.33", failure: `unknown Kubernetes line "1.33": use one of 1.30, 1.31, 1.32`},
		{name: "../k8s-1.31", failure: "unknown Kubernetes line"},
	} {
		got, err := Load(folder, test.name)
		if test.failure != "" {
			if err == nil || !strings.Contains(err.Error(), test.failure) {
				t.Errorf("Load(%q): got error %v, want %q", test.name, err, test.failure)
			}
			continue
		}
		want := Line{Name: test.name, Version: test.version, Etcd: test.etcd, Module: filepath.Join(folder, "k8s-"+test.name)}
		if err != nil || got != want {
			t.Errorf("Load(%q) = %+v, %v; want %+v", test.name, got, err, want)
		}
	}
}

// TestLinesOfTheWorkTree checks the module of each line: the directory's name is the line's minor release, and
// Kubernetes is built with the libraries of the same release.
func TestLinesOfTheWorkTree(t *testing.T) {
	root, err := repository.Find(".")
	if err != nil {
		t.Fatal(err)
	}
	folder := Folder(string(root))
	names, err := Names(folder)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(names, Default) {
		t.Errorf("the default line %s is not among %v", Default, names)
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) { checkLine(t, folder, name) })
	}
}

func checkLine(t *testing.T, folder, name string) {
	l, err := Load(folder, name)
	if err != nil {
		t.Fatal(err)
	}
	if major, minor := l.MajorMinor(); major+"."+minor != name {
		t.Errorf("folder %s pins Kubernetes %s", name, l.Version)
	}
	data, err := os.ReadFile(filepath.Join(l.Module, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	library := "v0" + strings.TrimPrefix(l.Version, "v1")
	replaced := 0
	for text := range strings.SplitSeq(string(data), "\n") {
		before, after, found := strings.Cut(text, " => ")
		if !found {
			continue
		}
		replaced++
		module := strings.TrimSpace(strings.TrimPrefix(before, "replace"))
		if want := module + " " + library; after != want {
			t.Errorf("%s is replaced with %q, want %q", module, after, want)
		}
	}
	if replaced < 30 {
		t.Errorf("only %d modules are replaced, but Kubernetes replaces more than 30", replaced)
	}
}
