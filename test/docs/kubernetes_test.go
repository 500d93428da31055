package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// builtLines returns the Kubernetes release lines that test/cluster builds, oldest first.
func builtLines(t *testing.T) []string {
	t.Helper()
	const prefix = "test/cluster/components/k8s-"
	found, err := filepath.Glob(filepath.Join(testutil.Root(), prefix+"*"))
	if err != nil || len(found) < 2 {
		t.Fatalf("found %d Kubernetes lines, error %v", len(found), err)
	}
	for i := range found {
		found[i] = strings.TrimPrefix(filepath.Base(found[i]), filepath.Base(prefix))
	}
	slices.Sort(found)
	return found
}

// The pages state the oldest and the newest Kubernetes release line that test/cluster builds.
func TestTestedKubernetes(t *testing.T) {
	lines := builtLines(t)
	oldest, newest := lines[0], lines[len(lines)-1]
	for path, want := range map[string]string{
		"README.md":              "| Kubernetes | tested on " + oldest + " and " + newest + " |",
		versionsPage:             "tested on " + oldest + " and " + newest,
		"test/cluster/README.md": newest + " (the default) or " + oldest,
	} {
		if !strings.Contains(readPage(t, path).text, want) {
			t.Errorf("%s does not contain %q", path, want)
		}
	}
}

// kubeVersion matches the Kubernetes versions that the chart accepts.
var kubeVersion = regexp.MustCompile(`(?m)^kubeVersion: ">=(1\.[0-9]+)\.0-0"$`)

// The page about compatible versions states the oldest Kubernetes version that the chart accepts, and the table on the
// page begins with this version.
func TestOldestKubernetes(t *testing.T) {
	chart, err := os.ReadFile(filepath.Join(testutil.Root(), "charts/llama-stack-k8s-operator/Chart.yaml"))
	testutil.Must(t, err)
	match := kubeVersion.FindSubmatch(chart)
	if match == nil {
		t.Fatalf("the chart does not contain %s", kubeVersion)
	}
	page, version := readPage(t, versionsPage), string(match[1])
	if want := "Kubernetes " + version + " or newer"; !strings.Contains(page.text, want) {
		t.Errorf("%s does not contain %q", page.path, want)
	}
	_, table, _ := strings.Cut(page.section(t, "Versions of Kubernetes"), "|---|---|\n")
	if want := "| " + version + " | "; !strings.HasPrefix(table, want) {
		t.Errorf("%s: the table of versions does not begin with %q", page.path, want)
	}
}
