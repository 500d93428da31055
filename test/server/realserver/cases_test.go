package realserver

import (
	"io/fs"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/worktree"
)

// TestKeyOfCase shows which files are part of the key of a test case, and which are not.
func TestKeyOfCase(t *testing.T) {
	root := t.TempDir()
	facts := fstest.MapFS{"0.7.json": {Data: []byte("{}")}, "1.5.json": {Data: []byte("{}")}}
	digests := func() map[string]string {
		t.Helper()
		found, errs := map[string]string{}, map[string]error{}
		found["code"], errs["code"] = newCode(root).Digest("test/server/boot", "TestBoot")
		found["shared"], errs["shared"] = digestOfShared(root)
		found["program"], errs["program"] = digestOfProgram(root, "0.7.3", filepath.Join(root, "env", "bin"), facts)
		for part, err := range errs {
			if err != nil {
				t.Fatalf("%s: %v", part, err)
			}
		}
		return found
	}
	for path, content := range map[string]string{
		"go.mod": "module m", "hack/server-env": "#!/bin/sh", "env/pyvenv.cfg": "version = 3.12",
		"test/server/environment/hashes.txt":       "ogx==1\n a\nogx==2\n b\nredis==1\n c\nold==1\n d\n",
		"test/server/environment/server-0.7.3.txt": "ogx==1\n",
		"test/server/environment/redis.txt":        "redis==1\n",
		"test/server/boot/boot_test.go": "package boot\n\nimport (\n\t\"" + module + "/internal/cluster/probe\"\n" +
			"\t\"" + module + "/internal/core/plan\"\n\t\"" + module + "/internal/core/stackconfig/release\"\n)\n\n" +
			"func TestBoot() { probe.Ask(); plan.Build(); release.Load() }\n",
		"internal/cluster/probe/probe.go":           "package probe\n\nfunc Ask() {}\n",
		"internal/core/plan/plan.go":                "package plan\n\nfunc Build() {}\n",
		"internal/core/stackconfig/release/load.go": "package release\n\n//go:embed data.zip.zst\nvar Load []byte\n",
	} {
		write(t, filepath.Join(root, path), content)
	}
	before := digests()
	for _, change := range []struct {
		path, content string
		want          string // the changed part of the key
	}{
		{"go.mod", "module m // changed", "shared"},
		{"hack/server-env", "#!/bin/bash", "shared"},
		{"test/server/environment/redis.txt", "redis==1 # again\n", "shared"},
		{"test/server/environment/hashes.txt", "ogx==1\n a\nogx==2\n b\nredis==1\n e\nold==1\n d\n", "shared"},
		{"test/server/environment/hashes.txt", "ogx==1\n a\nogx==2\n b\nredis==1\n e\nold==1\n f\n", ""},
		{"test/server/environment/server-0.7.3.txt", "ogx==2\n", "program"},
		{"test/server/environment/hashes.txt", "ogx==2\n g\nredis==1\n e\nogx==1\n a\n", "program"},
		{"env/pyvenv.cfg", "version = 3.13", "program"},
		{"test/server/boot/testdata/failures/0.7.txt", "boots", "code"},
		{"test/server/boot/peer.py", "pass", "code"},
		{"internal/cluster/probe/probe.go", "package probe\n\nfunc Ask() { panic(1) }\n", "code"},
		{"internal/core/stackconfig/release/added", "", "code"},
		// A change of the pipeline asks only the servers whose pod changes.
		{"internal/core/plan/plan.go", "package plan\n\nfunc Build() { panic(1) }\n", ""},
		{"internal/core/stackconfig/release/data.zip.zst", "changed", ""},
		{"internal/core/stackconfig/release/data/0.7.json", "changed", ""},
		{"test/server/environment/server-1.5.0.txt", "ogx==1\n", ""},
		{"test/server/boot/passed.txt", "0  0.7", ""},
	} {
		write(t, filepath.Join(root, change.path), change.content)
		after, changed := digests(), ""
		for part := range after {
			if after[part] != before[part] {
				changed += part
			}
		}
		if changed != change.want {
			t.Errorf("after a change of %s, the part %q of the key is different, want %q", change.path, changed, change.want)
		}
		before = after
	}
	facts["1.5.json"].Data = []byte("changed")
	if digests()["program"] != before["program"] {
		t.Error("the key changes with the data of another release")
	}
	facts["0.7.json"].Data = []byte("changed")
	if digests()["program"] == before["program"] {
		t.Error("the key does not change with the data of the release")
	}
}

// TestUnpack shows that the key of a test case has the data of each release.
func TestUnpack(t *testing.T) {
	files, err := unpack(filepath.Join(worktree.Root(), releaseData))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range release.Lines() {
		data, err := fs.ReadFile(files, line+".json")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := release.Decode(data); err != nil || got.Line != line {
			t.Errorf("the data of line %s is for another line (%v)", line, err)
		}
	}
}
