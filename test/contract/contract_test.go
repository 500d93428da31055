package contract

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/golden"
)

// The table lists every difference from the objects of the previous operator, and contains no other entries.
func TestStacksOfTodayStayWhatTheyAre(t *testing.T) {
	table := readTable(t)
	var undeclared []string
	compared := pairs(t)
	for _, name := range slices.Sorted(maps.Keys(compared)) {
		for _, d := range differences(t, name, compared[name].manifest, compared[name].today) {
			if !table.declares(d) {
				undeclared = append(undeclared, fmt.Sprintf("%s: %s %s: today %q, ours %q", d.Manifest, d.Object, d.Path, d.Today,
					d.Ours))
			}
		}
	}
	if len(undeclared) > 0 {
		t.Errorf("%d differences are not in testdata/differences.yaml:\n%s", len(undeclared), strings.Join(undeclared, "\n"))
	}
	for _, gone := range table.unused(havePublished(t)) {
		t.Errorf("testdata/differences.yaml: the difference no longer exists: %s", gone)
	}
	t.Logf("%d manifests compared", len(compared))
}

func differences(t *testing.T, name, manifest, todayFile string) []difference {
	t.Helper()
	data := golden.Read(t, todayFile)
	today, err := documents(data)
	testutil.Must(t, err)
	ours, messages, code, err := render(manifest)
	testutil.Must(t, err)
	if code != 0 {
		t.Errorf("%s: not rendered: %s", name, messages)
		return nil
	}
	return compare(name, stacks(t, manifest), today, ours)
}

// stacks returns the names of the stacks in a manifest.
func stacks(t *testing.T, file string) []string {
	t.Helper()
	data := golden.Read(t, file)
	objects, err := documents(data)
	testutil.Must(t, err)
	var names []string
	for _, object := range objects {
		if object["kind"] == "LlamaStackDistribution" {
			metadata, _ := object["metadata"].(map[string]any)
			names = append(names, metadata["name"].(string))
		}
	}
	return names
}
