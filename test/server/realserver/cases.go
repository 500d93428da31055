package realserver

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/worktree"
	"github.com/llamastack/llama-stack-k8s-operator/test/server/verdict"
)

// module is the path of this module.
const module = "github.com/llamastack/llama-stack-k8s-operator"

// Once runs a test case that starts programs of releases, unless the case passed before with the same key; see NewCase.
// The case must not have subtests.
func Once(t *testing.T, releases []string, run func(), parts ...any) {
	t.Helper()
	NewCase(t, releases, parts...).Once(t, &struct{}{}, run)
}

// NewCase returns a test case that starts programs of releases. Its key contains the code that the test can run, except
// that of the pipeline, with the files next to it, the interpreters, packages and data of these releases, and the given
// parts. The parts are what the pipeline returned for the case, without values that differ from run to run.
func NewCase(t *testing.T, releases []string, parts ...any) *verdict.Case {
	t.Helper()
	kept, err := cases()
	if err != nil {
		t.Fatal(err)
	}
	function, _, _ := strings.Cut(t.Name(), "/")
	code, err := kept.digest(function)
	if err != nil {
		t.Fatal(err)
	}
	programs := map[string]string{}
	for _, release := range releases {
		bin, err := Install(t.Context(), release)
		if err == nil {
			programs[release], err = digestOfProgram(worktree.Root(), release, bin, kept.data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	c, err := kept.store.Case(t, code, programs, parts)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// testCases are the kept test cases of a package, and the code on which they depend.
type testCases struct {
	store *verdict.Store
	path  string // of the package, in the module
	data  fs.FS  // of the releases

	mu      sync.Mutex
	code    *verdict.Code
	digests map[string]string // keyed by function
}

// cases opens the test cases of the package whose tests run.
var cases = sync.OnceValues(func() (*testCases, error) {
	root := worktree.Root()
	directory, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	path, err := filepath.Rel(root, directory)
	if err != nil {
		return nil, err
	}
	shared, err := digestOfShared(root)
	if err != nil {
		return nil, err
	}
	data, err := unpack(filepath.Join(root, releaseData))
	if err != nil {
		return nil, err
	}
	store, err := verdict.Open("cases", shared)
	return &testCases{store: store, path: path, data: data, code: newCode(root), digests: map[string]string{}}, err
})

// digest returns the digest of the code that a test function can run.
func (c *testCases) digest(function string) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var err error
	if c.digests[function] == "" {
		c.digests[function], err = c.code.Digest(c.path, function)
	}
	return c.digests[function], err
}

// digestOfShared returns the digest of what all test cases have in common: the packages of programs other than the
// servers, the modules, and the machine. Some tests do something else if they run as root. root is the directory of the
// module.
func digestOfShared(root string) (string, error) {
	parts := []string{runtime.GOOS, runtime.GOARCH, runtime.Version(), strconv.Itoa(os.Geteuid())}
	files, err := verdict.Files(filepath.Join(root, "go.mod"), filepath.Join(root, "hack", "server-env"))
	if err != nil {
		return "", err
	}
	environment := filepath.Join(root, "test", "server", "environment")
	lists, err := filepath.Glob(filepath.Join(environment, "*.txt"))
	if err != nil {
		return "", fmt.Errorf("list packages: %w", err)
	}
	for _, list := range lists {
		name := filepath.Base(list)
		if name == "hashes.txt" || strings.HasPrefix(name, "server-") {
			continue
		}
		lock, err := join(environment, name)
		if err != nil {
			return "", fmt.Errorf("read packages: %w", err)
		}
		parts = append(parts, name, lock)
	}
	return verdict.Digest(append(parts, files)...), nil
}
