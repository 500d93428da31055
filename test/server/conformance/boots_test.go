//go:build server

package conformance

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
	"github.com/llamastack/llama-stack-k8s-operator/test/server/corpus"
)

// boots returns the v1alpha2 stacks of a release line in ../shared/cases/boots. Real servers once did not start with
// them, or with stacks like them. A checkout without ../shared has none.
func boots(t *testing.T, rel *release.Release) (cases []corpus.Case) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(testutil.Root(), "../shared/cases/boots/*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(data), "apiVersion: llamastack.io/v1alpha2") {
			continue
		}
		c, err := corpus.FromManifest(rel, "boots/"+strings.TrimSuffix(filepath.Base(file), ".yaml"), data)
		if err != nil {
			t.Fatal(err)
		}
		if c != nil {
			cases = append(cases, *c)
		}
	}
	return cases
}
