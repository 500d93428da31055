package startup

import (
	"io/fs"
	"maps"
	"path"
	"regexp"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// These are the maximum total sizes of the files that a stack's ConfigMap contains: one for the files of the registry
// program, and one for the files of the program for external providers.
const (
	maxSize         = 43 << 10
	maxExternalSize = 48 << 10
)

func TestFiles(t *testing.T) {
	for name, tc := range map[string]struct {
		files   func() map[string]string
		program string
		most    int
	}{
		"registry":           {Files, names.RegistryProgram, maxSize},
		"external providers": {ExternalFiles, names.ExternalProgram, maxExternalSize},
	} {
		files, size := tc.files(), 0
		if files[tc.program] == "" {
			t.Errorf("%s: there is no %s", name, tc.program)
		}
		for _, text := range files {
			size += len(text)
		}
		if size > tc.most {
			t.Errorf("%s: the files have %d bytes, want at most %d", name, size, tc.most)
		}
		files[tc.program] = ""
		if tc.files()[tc.program] == "" {
			t.Errorf("%s: a caller can change the result of the next call", name)
		}
	}
}

// TestEveryFileBelongsToAProgram checks that each script belongs to at least one of the two programs, and that the
// programs do not contain different files with the same name. Both programs can therefore be in one directory.
func TestEveryFileBelongsToAProgram(t *testing.T) {
	found, err := fs.Glob(script, "script/*.py")
	if err != nil {
		t.Fatal(err)
	}
	both := Files()
	for name, text := range ExternalFiles() {
		if both[name] != "" && both[name] != text {
			t.Errorf("the programs differ in %s", name)
		}
		both[name] = text
	}
	for _, name := range found {
		if both[path.Base(name)] == "" {
			t.Errorf("%s does not belong to a program", name)
		}
	}
	if len(both) != len(found)+1 {
		t.Errorf("there are %d files, want %d and %s", len(both), len(found), releasesFile)
	}
}

// TestProgramsContainNoFacts checks that only releases.json contains differences between releases.
func TestProgramsContainNoFacts(t *testing.T) {
	fact := regexp.MustCompile(`v10::|llama_stack|llamastack_kvstore|ogx|_id}|TIMESTAMPTZ|listed_from_provider|basic::|faiss|"(dataset|benchmark|scoring_function)"`)
	files := Files()
	maps.Copy(files, ExternalFiles())
	for name, text := range files {
		if found := fact.FindString(text); found != "" && name != releasesFile {
			t.Errorf("%s contains %q", name, found)
		}
	}
}
