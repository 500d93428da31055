package docs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
	"github.com/llamastack/llama-stack-k8s-operator/test/docs/script"
)

// serverManifests returns the manifests of the servers that a page needs.
func serverManifests(t *testing.T, parsed *script.Page) string {
	t.Helper()
	var all strings.Builder
	for _, name := range parsed.Servers {
		text, err := os.ReadFile(filepath.Join(testutil.Root(), "test", "docs", "servers", name+".yaml"))
		if err != nil {
			t.Fatalf("there is no manifest of the server %q: %v", name, err)
		}
		all.WriteString(string(text) + "---\n")
	}
	return all.String()
}

// Every server that a page needs has a manifest.
func TestServersExist(t *testing.T) {
	for _, p := range scripts(t) {
		serverManifests(t, script.Parse(p.text))
	}
}
