package contract

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// fixtures are manifests of v1alpha1 and what the operator in use today makes of them. They are no part of this
// repository.
var fixtures = filepath.Join(testutil.Root(), "../shared/fixtures/v1alpha1")

// haveFixtures says whether they are here. Where they are not, the golden cases of packages convert and render hold
// the same facts one by one.
func haveFixtures(t *testing.T) bool {
	t.Helper()
	if _, err := os.Stat(fixtures); os.IsNotExist(err) {
		t.Logf("%s is not here: nothing is compared; the golden cases of internal/convert and internal/render hold the same facts", fixtures)
		return false
	}
	return true
}

// render is what the command line prints for a manifest.
func render(file string) (objects []map[string]any, messages string, code int, err error) {
	var out, errs bytes.Buffer
	streams := cli.Streams{In: strings.NewReader(""), Out: &out, Err: &errs}
	config := "testdata/operator-" + filepath.Base(filepath.Dir(file)) + ".yaml"
	code = cli.Run(streams, "test", []string{"render", "-f", file, "--operator-config", config})
	objects, err = documents(out.Bytes())
	return objects, errs.String(), code, err
}

// documents are the objects of a file.
func documents(data []byte) ([]map[string]any, error) {
	var objects []map[string]any
	for text := range bytes.SplitSeq(append([]byte("\n"), data...), []byte("\n---\n")) {
		var object map[string]any
		if err := yaml.Unmarshal(text, &object); err != nil {
			return nil, err
		}
		if object != nil {
			objects = append(objects, object)
		}
	}
	return objects, nil
}

// pairs are the manifests with what today's operator makes of each, by a short name.
func pairs(t *testing.T) map[string][2]string {
	t.Helper()
	found := make(map[string][2]string)
	for folder, today := range map[string]string{"cases": "today", "real": "real-today"} {
		files, err := filepath.Glob(filepath.Join(fixtures, today, "*.yaml"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, error %v", today, len(files), err)
		}
		for _, file := range files {
			name := filepath.Base(file)
			found[folder+"/"+strings.TrimSuffix(name, ".yaml")] = [2]string{filepath.Join(fixtures, folder, name), file}
		}
	}
	return found
}

// names of the manifests that today's operator makes nothing of.
func unpaired(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(fixtures, "real", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	paired := pairs(t)
	return slices.DeleteFunc(files, func(file string) bool {
		_, ok := paired["real/"+strings.TrimSuffix(filepath.Base(file), ".yaml")]
		return ok
	})
}
