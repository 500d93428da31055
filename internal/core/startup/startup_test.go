package startup

import (
	"io/fs"
	"maps"
	"path"
	"regexp"
	"strings"
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
	tests := map[string]struct {
		files   func() map[string]string
		program string
		size    int
	}{
		"registry":           {Files, names.RegistryProgram, maxSize},
		"external providers": {ExternalFiles, names.ExternalProgram, maxExternalSize},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) { checkFiles(t, test.files, test.program, test.size) })
	}
}

func checkFiles(t *testing.T, get func() map[string]string, program string, maxSize int) {
	t.Helper()
	files := get()
	if files[program] == "" {
		t.Errorf("there is no %s", program)
	}
	size := 0
	for name, text := range files {
		size += len(text)
		if name == releasesFile {
			continue
		}
		if !strings.HasPrefix(text, `"""`) {
			t.Errorf("%s does not begin with a docstring", name)
		}
		for i, line := range strings.Split(text, "\n") {
			if len(line) > 130 || strings.TrimRight(line, " \t") != line {
				t.Errorf("%s, line %d: %q is too long or ends in space", name, i+1, line)
			}
		}
	}
	if size > maxSize {
		t.Errorf("the files have %d bytes, want at most %d", size, maxSize)
	}
	files[program] = ""
	if get()[program] == "" {
		t.Error("a caller can change the result of the next call")
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
