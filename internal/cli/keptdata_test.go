package cli_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/golden"
)

// directoryVariables are the variables that set the server's directories.
var directoryVariables = []string{
	"HOME", "OGX_CONFIG_DIR", "SQLITE_STORE_DIR", "FILES_STORAGE_DIR", "MILVUS_DB_PATH", "CHROMADB_PATH", "QDRANT_PATH",
}

// TestKeptData compares, for changes to stacks with data on a volume, the variables with the server's directories
// before and after the change, and the messages of validate, with golden files.
func TestKeptData(t *testing.T) {
	const cases = "testdata/kept-data"
	for _, name := range golden.Cases(t, cases) {
		t.Run(name, func(t *testing.T) {
			at := filepath.Join(cases, name)
			change := string(golden.Read(t, filepath.Join(at, "change.diff")))
			files := write(t, map[string]string{"before.yaml": without("+", change), "after.yaml": without("-", change)})
			before, after := filepath.Join(files, "before.yaml"), filepath.Join(files, "after.yaml")
			told := run(t, "", "validate", "-f", after, "--previous", before)
			was, is := directories(t, before), directories(t, after)
			if is == was {
				is = "  the same\n"
			}
			text := "before:\n" + was + "after:\n" + is + "validate:\n" + strings.ReplaceAll(told.out+told.err, files, "")
			golden.Dir(t, filepath.Join(at, "want"), map[string][]byte{"told.txt": []byte(text)})
		})
	}
}

// without returns one side of a change: the lines of a case's change.diff that do not begin with the mark.
func without(mark, change string) string {
	var side strings.Builder
	for line := range strings.Lines(change) {
		if !strings.HasPrefix(line, mark) {
			side.WriteString(line[1:])
		}
	}
	return side.String()
}

func directories(t *testing.T, file string) string {
	t.Helper()
	rendered := run(t, "", "render", "-f", file, "-o", "env")
	rendered.exits(t, 0)
	var env []struct{ Name, Value string }
	testutil.Must(t, yaml.Unmarshal([]byte(rendered.out), &env))
	var found strings.Builder
	for _, variable := range env {
		if slices.Contains(directoryVariables, variable.Name) {
			fmt.Fprintf(&found, "  %s=%s\n", variable.Name, variable.Value)
		}
	}
	return found.String()
}
