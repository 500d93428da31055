package realserver

import (
	"path/filepath"
	"testing"
)

// TestDigestOfTests shows what is part of the key of every test case, and what is not.
func TestDigestOfTests(t *testing.T) {
	root := t.TempDir()
	digest := func() string {
		t.Helper()
		found, err := digestOfTests(root)
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	for path, content := range map[string]string{
		"go.mod": "module m", "hack/server-env": "#!/bin/sh", "test/server/environment/server-0.7.3.txt": "ogx==1",
		"test/server/boot/boot_test.go": "package boot\n\nimport (\n\t\"" + module + "/internal/cluster/probe\"\n" +
			"\t\"" + module + "/internal/core/plan\"\n)\n",
		"internal/cluster/probe/probe.go": "package probe\n", "internal/core/plan/plan.go": "package plan\n",
	} {
		write(t, filepath.Join(root, path), content)
	}
	before := digest()
	for _, change := range []struct {
		path, content string
		want          bool
	}{
		{"go.mod", "module m // changed", true},
		{"hack/server-env", "#!/bin/bash", true},
		{"test/server/environment/server-0.7.3.txt", "ogx==2", true},
		{"test/server/environment/support.txt", "tokenizer==1", true},
		{"test/server/boot/added_test.go", "package boot\n", true},
		{"test/server/boot/testdata/failures/0.7.txt", "boots", true},
		{"test/server/registry/peer.py", "pass", true},
		{"internal/cluster/probe/probe.go", "package probe\n\nconst A = 1\n", true},
		// A change of the pipeline asks only the servers whose pod changes.
		{"internal/core/plan/plan.go", "package plan\n\nconst A = 1\n", false},
		{"test/server/realserver/passed.txt", "0  0.7", false},
	} {
		write(t, filepath.Join(root, change.path), change.content)
		after := digest()
		if changed := after != before; changed != change.want {
			t.Errorf("after a change of %s, the digest is different: %t, want %t", change.path, changed, change.want)
		}
		before = after
	}
	if got, err := digestOfTests(filepath.Join(here(), "..", "..", "..")); err != nil || got == before {
		t.Errorf("the digest of this module is %q (%v)", got, err)
	}
}
