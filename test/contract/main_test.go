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

// These folders contain the manifests, and the objects that the previous operator creates for each manifest that it
// accepts (in today and real-today). The manifests that were designed for the test are in this repository. Manifests
// that users have published are not in this repository, and are compared only on machines that have them.
const designed = "testdata"

var published = filepath.Join(testutil.Root(), "../shared/fixtures/v1alpha1")

// havePublished reports whether the published manifests are on this machine.
func havePublished(t *testing.T) bool {
	t.Helper()
	if _, err := os.Stat(published); os.IsNotExist(err) {
		t.Logf("%s does not exist, so the manifests that users have published are not compared", published)
		return false
	}
	return true
}

// render returns the output of the command line for a manifest.
func render(file string) (objects []map[string]any, messages string, code int, err error) {
	var out, errs bytes.Buffer
	streams := cli.Streams{In: strings.NewReader(""), Out: &out, Err: &errs}
	config := "testdata/operator-" + filepath.Base(filepath.Dir(file)) + ".yaml"
	code = cli.Run(streams, "test", []string{"render", "-f", file, "-o", "all", "--operator-config", config})
	objects, err = documents(out.Bytes())
	return objects, errs.String(), code, err
}

// documents returns the objects in a file.
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

// pair contains the path of a manifest, and the path of a file with the objects that the previous operator creates for
// the manifest.
type pair struct{ manifest, today string }

// pairs returns every manifest that the previous operator accepts, keyed by folder and name.
func pairs(t *testing.T) map[string]pair {
	t.Helper()
	found := make(map[string]pair)
	add := func(root, folder, today string) {
		for _, file := range manifests(t, root, today) {
			name := filepath.Base(file)
			found[folder+"/"+strings.TrimSuffix(name, ".yaml")] = pair{filepath.Join(root, folder, name), file}
		}
	}
	add(designed, "cases", "today")
	if havePublished(t) {
		add(published, "real", "real-today")
	}
	return found
}

// unpaired returns the published manifests that the previous operator does not accept.
func unpaired(t *testing.T) []string {
	t.Helper()
	paired := pairs(t)
	return slices.DeleteFunc(manifests(t, published, "real"), func(file string) bool {
		_, ok := paired["real/"+strings.TrimSuffix(filepath.Base(file), ".yaml")]
		return ok
	})
}

func manifests(t *testing.T, elements ...string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(append(elements, "*.yaml")...))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %d files, error %v", filepath.Join(elements...), len(files), err)
	}
	return files
}

func TestEveryDesignedManifestIsCompared(t *testing.T) {
	compared := pairs(t)
	for _, file := range manifests(t, designed, "cases") {
		if name := "cases/" + strings.TrimSuffix(filepath.Base(file), ".yaml"); compared[name].manifest != file {
			t.Errorf("testdata/today has no %s", filepath.Base(file))
		}
	}
}
