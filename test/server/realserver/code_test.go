package realserver

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/worktree"
)

// TestCodeOfTests changes files of this module, and shows that the code of the tests that use them changes.
func TestCodeOfTests(t *testing.T) {
	root := t.TempDir()
	for _, dir := range []string{
		"api", "internal/cluster/probe", "internal/cluster/share", "internal/core", "internal/testutil", "test/server",
	} {
		if err := os.CopyFS(filepath.Join(root, dir), os.DirFS(filepath.Join(worktree.Root(), dir))); err != nil {
			t.Fatal(err)
		}
	}
	for _, change := range []struct{ test, file, old, new string }{
		{"registry.TestChanges", "internal/core/startup/script/registry.py", "\n", "\n\n"},
		{"registry.TestChanges", "internal/core/names/metadata.go", `RegistryProgram = "`, `RegistryProgram = "x`},
		{"registry.TestChanges", "test/server/registry/peer.py", "\n", "\n\n"},
		{"external.TestRefused", "internal/core/startup/script/external_providers.py", "\n", "\n\n"},
		{"boot.TestStacksBoot", "internal/cluster/probe/prober.go", "func New(", "func New(_ int, "},
		{"boot.TestUnusableStores", "test/server/boot/testdata/failures/0.7.txt", "\n", "\n\n"},
		{"boot.TestLauncher", "internal/core/stackconfig/release/release.go", ") Resource(", ") Resource(_ int, "},
		{"realserver.NewChecker", "test/server/realserver/check.py", "\n", "\n\n"},
	} {
		t.Run(change.test+" "+change.file, func(t *testing.T) {
			pkg, name, _ := strings.Cut(change.test, ".")
			digest := func() string {
				t.Helper()
				found, err := newCode(root).Digest("test/server/"+pkg, name)
				if err != nil {
					t.Fatal(err)
				}
				return found
			}
			before := digest()
			path := filepath.Join(root, change.file)
			write(t, path, strings.Replace(read(t, path), change.old, change.new, 1))
			if digest() == before {
				t.Error("the digest does not change")
			}
		})
	}
}
