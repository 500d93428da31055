package controller

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// TestStepsMatchThePage checks that the steps in the code are those in docs/development/architecture.md, in the same
// order, each in a file with its name. The last step, finish, is not in the variable steps, because it always runs.
func TestStepsMatchThePage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "development", "architecture.md"))
	testutil.Must(t, err)
	_, table, found := strings.Cut(string(page), "\n| step |")
	if !found {
		t.Fatal("docs/development/architecture.md has no table of steps")
	}
	table, _, _ = strings.Cut(table, "\n\n")
	var want []string
	for _, row := range regexp.MustCompile(`(?m)^\| ([a-z_]+) \|`).FindAllStringSubmatch(table, -1) {
		want = append(want, row[1])
	}
	got := make([]string, 0, len(steps)+1)
	for _, step := range steps {
		got = append(got, step.name)
	}
	got = append(got, "finish")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("steps (-page +code):\n%s", diff)
	}
	files, err := filepath.Glob("step_*.go")
	testutil.Must(t, err)
	var named []string
	for _, file := range files {
		if !strings.HasSuffix(file, "_test.go") {
			named = append(named, strings.TrimSuffix(strings.TrimPrefix(file, "step_"), ".go"))
		}
	}
	// The code of these steps is in packages below this one.
	for _, step := range []struct{ name, file string }{
		{"admit", "planning/admit.go"},
		{"image", "planning/planner.go"},
		{"bounds", "planning/bounds.go"},
		{"image_labels", "images/labels.go"},
		{"configmaps", "planning/configmaps.go"},
		{"secrets", "planning/secrets.go"},
		{"base", "planning/base.go"},
		{"external_images", "images/external.go"},
		{"plan", "planning/plan.go"},
	} {
		if _, err := os.Stat(step.file); err != nil {
			t.Error(err)
		}
		named = append(named, step.name)
	}
	slices.Sort(named)
	slices.Sort(got)
	if diff := cmp.Diff(got, named); diff != "" {
		t.Errorf("files of steps (-steps +files):\n%s", diff)
	}
}

// TestRightsCoverChildKinds checks that the operator has the permissions that the applier needs for every kind of
// child, and the permission to watch the definitions of optional kinds. The tests with the shipped permissions cover
// the preflight pods, which are not applied.
func TestRightsCoverChildKinds(t *testing.T) {
	source, err := os.ReadFile("rbac.go")
	testutil.Must(t, err)
	verbs, definitions := map[string]string{}, ""
	marker := regexp.MustCompile(`(?m)^// \+kubebuilder:rbac:groups="?([^",]*)"?,resources=([^,]+),(?:resourceNames=([^,]+),)?verbs=(.+)$`)
	for _, m := range marker.FindAllStringSubmatch(string(source), -1) {
		for resource := range strings.SplitSeq(m[2], ";") {
			if resource == "customresourcedefinitions" {
				definitions = m[3]
			}
			verbs[m[1]+"/"+resource] = m[4]
		}
	}
	for _, kind := range render.ChildKinds() {
		resource, _ := meta.UnsafeGuessKindToResource(kind.GroupVersionKind)
		if got := verbs[resource.Group+"/"+resource.Resource]; got != "get;list;watch;create;patch;delete" {
			t.Errorf("%s: the marker in rbac.go gives %q", kind.Kind, got)
		}
		if kind.Definition != "" && !slices.Contains(strings.Split(definitions, ";"), kind.Definition) {
			t.Errorf("%s: no marker in rbac.go permits the operator to watch its definition %q", kind.Kind, kind.Definition)
		}
		if (kind.New == nil) != (kind.Definition != "") {
			t.Errorf("%s: has a Go type or a definition, not both", kind.Kind)
		}
	}
}
