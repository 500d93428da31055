package binaries

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/line"
)

// fakeGo replaces the go command. It logs its arguments and writes the output files of a build. It fails for the
// package in $FAIL.
const fakeGo = `#!/bin/sh
echo "$*" >>"$CALLS"
case $1 in
env) printf 'go1.99.1\nplan9\nmips\n' ;;
build)
  while [ "$1" != -o ]; do shift; done
  folder=$2
  shift 2
  for package; do
    if [ "$package" = "$FAIL" ]; then echo "x.go:1: undefined: y" >&2; exit 1; fi
    echo "$package" >"$folder/$(basename "${package%/v3}")"
  done ;;
esac
`

// bench holds a cache, a set of programs and a log of the calls to the go command.
type bench struct {
	cache    Cache
	set      Set
	calls    string
	progress *bytes.Buffer
}

func newBench(t *testing.T) bench {
	t.Helper()
	tools, module := t.TempDir(), t.TempDir()
	b := bench{
		set:      ControlPlane(line.Line{Name: "1.99", Version: "v1.99.2", Module: module}),
		calls:    filepath.Join(tools, "calls"),
		progress: &bytes.Buffer{},
	}
	b.cache = Cache{Folder: filepath.Join(t.TempDir(), "cache"), Progress: b.progress, Origin: Modules}
	put(t, filepath.Join(tools, "go"), fakeGo)
	if err := os.Chmod(filepath.Join(tools, "go"), 0o700); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(module, "go.mod"), "module x\n")
	put(t, filepath.Join(module, "go.sum"), "")
	t.Setenv("PATH", tools+string(filepath.ListSeparator)+os.Getenv("PATH"))
	t.Setenv("CALLS", b.calls)
	return b
}

func put(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// builds returns the number of builds in the log.
func (b bench) builds(t *testing.T) int {
	t.Helper()
	data, err := os.ReadFile(b.calls)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count("\n"+string(data), "\nbuild ")
}

func (b bench) ensure(t *testing.T) string {
	t.Helper()
	folder, err := b.cache.Ensure(t.Context(), b.set)
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

func TestEnsureBuildsOnce(t *testing.T) {
	b := newBench(t)
	folder := b.ensure(t)
	if !strings.HasPrefix(filepath.Base(folder), "v1.99.2-go1.99.1-plan9-mips-") {
		t.Errorf("the name of the folder %q does not contain the versions", folder)
	}
	for _, program := range b.set.Programs {
		data, err := os.ReadFile(filepath.Join(folder, program.Name))
		if err != nil || strings.TrimSpace(string(data)) != program.Package {
			t.Errorf("%s was built from %q (%v), want %s", program.Name, data, err, program.Package)
		}
	}
	if !strings.Contains(b.progress.String(), "\n  packages ") {
		t.Errorf("no progress line for the packages in:\n%s", b.progress)
	}

	b.progress.Reset()
	if again := b.ensure(t); again != folder {
		t.Errorf("the second call returns %q, want %q", again, folder)
	}
	if got := b.builds(t); got != 1 {
		t.Errorf("%d builds, want 1", got)
	}
	if b.progress.Len() > 0 {
		t.Errorf("there is progress output although nothing was built: %q", b.progress)
	}
}

// A set that needs only some programs has the folder of the whole set, and the rest is added to it later.
func TestNeeds(t *testing.T) {
	b := newBench(t)
	b.set.Needs = []string{"kube-apiserver", "etcd"}
	folder := b.ensure(t)
	if want := "Building etcd, kube-apiserver of Kubernetes v1.99.2 with"; !strings.Contains(b.progress.String(), want) {
		t.Errorf("no %q in:\n%s", want, b.progress)
	}
	b.ensure(t)
	if got := b.builds(t); got != 1 {
		t.Errorf("%d builds of the needed programs, want 1", got)
	}
	b.set.Needs = nil
	if complete(folder, b.set) {
		t.Error("the folder of two programs is complete")
	}
	if all := b.ensure(t); all != folder || !complete(folder, b.set) {
		t.Errorf("the folder of all programs is %q, want the complete folder %q", all, folder)
	}
	if got := b.builds(t); got != 2 {
		t.Errorf("%d builds in all, want 2", got)
	}
}

func TestBuildFlags(t *testing.T) {
	b := newBench(t)
	b.ensure(t)
	data, err := os.ReadFile(b.calls)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"-trimpath", "-buildvcs=false", "-s -w",
		"-X k8s.io/component-base/version.gitVersion=v1.99.2",
		"-X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=99",
	} {
		if !strings.Contains(string(data), want) {
			t.Errorf("the build has no %q in:\n%s", want, data)
		}
	}
}

func TestConcurrentCallersBuildOnce(t *testing.T) {
	b := newBench(t)
	var group sync.WaitGroup
	folders := make([]string, 4)
	for i := range folders {
		group.Go(func() {
			cache := Cache{Folder: b.cache.Folder, Progress: &bytes.Buffer{}, Origin: Modules}
			folder, err := cache.Ensure(t.Context(), b.set)
			if err != nil {
				t.Error(err)
			}
			folders[i] = folder
		})
	}
	group.Wait()
	if got := b.builds(t); got != 1 {
		t.Errorf("%d builds, want 1", got)
	}
	for _, folder := range folders {
		if !complete(folder, b.set) {
			t.Errorf("a caller got the incomplete folder %q", folder)
		}
	}
}

func TestFailedBuildLeavesNoFolder(t *testing.T) {
	b := newBench(t)
	last := b.set.Programs[len(b.set.Programs)-1]
	t.Setenv("FAIL", last.Package)
	_, err := b.cache.Ensure(t.Context(), b.set)
	if err == nil || !strings.Contains(err.Error(), last.Name) || !strings.Contains(err.Error(), "undefined: y") {
		t.Fatalf("got %v, want an error with the program and the compiler's output", err)
	}
	entries, err := os.ReadDir(b.cache.Folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if entry.IsDir() {
			t.Errorf("%s was left behind", entry.Name())
		}
	}

	t.Setenv("FAIL", "")
	if folder := b.ensure(t); !complete(folder, b.set) {
		t.Error("the next call did not build")
	}
}

func TestLeftoversOfAKilledBuildAreReplaced(t *testing.T) {
	b := newBench(t)
	folder := b.ensure(t)
	if err := os.Remove(filepath.Join(folder, "etcd")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(folder+".partial", 0o700); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(folder+".partial", "half"), "")
	b.ensure(t)
	if !complete(folder, b.set) {
		t.Error("an incomplete folder was not replaced")
	}
	if _, err := os.Stat(filepath.Join(folder, "half")); err == nil {
		t.Error("the folder contains a file of a killed build")
	}
}

func TestKeyFollowsTheModuleFiles(t *testing.T) {
	b := newBench(t)
	before := b.ensure(t)
	put(t, filepath.Join(b.set.Module, "go.sum"), "example.com/x v1.0.0 h1:abc=\n")
	if after := b.ensure(t); after == before {
		t.Error("another go.sum results in the same folder")
	}
}

func TestKeyFollowsTheSources(t *testing.T) {
	b := newBench(t)
	put(t, filepath.Join(b.set.Module, "main.go"), "package main\n")
	before := b.ensure(t)
	put(t, filepath.Join(b.set.Module, "main_test.go"), "package main\n")
	if after := b.ensure(t); after != before {
		t.Error("a test file results in another folder")
	}
	put(t, filepath.Join(b.set.Module, "main.go"), "package main // changed\n")
	if after := b.ensure(t); after == before {
		t.Error("another source results in the same folder")
	}
}

func TestSetsOfANodeHaveFoldersOfTheirOwn(t *testing.T) {
	b := newBench(t)
	l := line.Line{Name: "1.99", Version: "v1.99.2", Module: b.set.Module}
	seen := map[string]bool{}
	for _, set := range append(Node(l), ControlPlane(l)) {
		set.Module = b.set.Module
		folder, err := b.cache.Ensure(t.Context(), set)
		if err != nil {
			t.Fatal(err)
		}
		if seen[folder] || !complete(folder, set) {
			t.Errorf("%s: folder %q is incomplete, or is the folder of another set", set.Title, folder)
		}
		seen[folder] = true
	}
}

func TestWaitingForTheLockEndsWithTheContext(t *testing.T) {
	b := newBench(t)
	folder := filepath.Join(b.cache.Folder, "key")
	unlock, err := b.cache.lock(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if _, err := b.cache.lock(ctx, folder); err == nil {
		t.Error("two callers hold the lock")
	}
	if !strings.Contains(b.progress.String(), "Waiting for another process that is building or downloading key") {
		t.Errorf("the error of the waiting caller is %q", b.progress)
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	unlock, err = b.cache.lock(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
}

func TestDefaultFolderFollowsXDG(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", "/caches")
	got, err := DefaultFolder()
	if want := "/caches/llama-stack-k8s-operator/kubernetes"; err != nil || got != want {
		t.Errorf("DefaultFolder() = %q, %v; want %q", got, err, want)
	}
}

func TestMeter(t *testing.T) {
	m := newMeter(&bytes.Buffer{}, []string{"a/b", "c"})
	for _, part := range []string{"a/", "b\n# d\nd.go:1: unde", "fined: y\nc"} {
		if _, err := m.Write([]byte(part)); err != nil {
			t.Fatal(err)
		}
	}
	if len(m.packages) != 1 || m.said() != "# d\nd.go:1: undefined: y\nc" {
		t.Errorf("packages left: %v, the rest is %q", m.packages, m.said())
	}
}
