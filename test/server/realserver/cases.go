package realserver

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/test/server/verdict"
)

// module is the path of this module.
const module = "github.com/llamastack/llama-stack-k8s-operator"

// pipeline lists the packages whose code reaches a server only through the objects that they return. A test case that
// calls them has these objects among the parts of its key.
var pipeline = []string{
	"internal/core/distribution", "internal/core/intent", "internal/core/plan", "internal/core/render",
	"internal/core/stackconfig",
	"internal/core/stackconfig/secretvalue", "internal/core/validate",
}

// Once runs a test case that starts programs of releases, unless the case passed before with the same key; see NewCase.
// The case must not have subtests.
func Once(t *testing.T, releases []string, run func(), parts ...any) {
	t.Helper()
	NewCase(t, releases, parts...).Once(t, &struct{}{}, run)
}

// NewCase returns a test case that starts programs of releases. Its key contains the interpreters of these releases,
// the files below test/server with all lock files, the packages of this module that the tests import, except the
// pipeline, and the given parts. The parts are what the pipeline returned for the case, without values that differ from
// run to run.
func NewCase(t *testing.T, releases []string, parts ...any) *verdict.Case {
	t.Helper()
	kept, err := cases()
	if err != nil {
		t.Fatal(err)
	}
	interpreters := map[string]string{}
	for _, release := range releases {
		bin, err := Install(t.Context(), release)
		if err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(filepath.Join(bin, "..", "pyvenv.cfg"))
		if err != nil {
			t.Fatalf("read the interpreter of %s: %v", release, err)
		}
		interpreters[release] = string(content)
	}
	c, err := kept.Case(t, interpreters, parts)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// cases opens the store of the test cases.
var cases = sync.OnceValues(func() (*verdict.Store, error) {
	fixed, err := digestOfTests(filepath.Join(here(), "..", "..", ".."))
	if err != nil {
		return nil, err
	}
	return verdict.Open("cases", fixed)
})

// digestOfTests returns the digest of the code and the data of all tests in test/server, and of the machine. Some tests
// do something else if they run as root. root is the directory of the module.
func digestOfTests(root string) (string, error) {
	tests, err := verdict.Tree(filepath.Join(root, "test", "server"), isRecord)
	if err != nil {
		return "", err
	}
	product, err := verdict.Sources(root, module, "test/server", pipeline...)
	if err != nil {
		return "", err
	}
	dependencies, err := verdict.Files(filepath.Join(root, "go.mod"), filepath.Join(root, "hack", "server-env"))
	if err != nil {
		return "", err
	}
	return verdict.Digest(tests, product, dependencies, runtime.GOOS, runtime.GOARCH, runtime.Version(),
		strconv.Itoa(os.Geteuid())), nil
}

// isRecord reports whether a file is the record of passed lines. It has no effect on a case.
func isRecord(path string) bool { return filepath.Base(path) == filepath.Base(recordFile()) }
