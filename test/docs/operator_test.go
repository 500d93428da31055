package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/operatorconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

const (
	// operatorPage is the page about the operator's ConfigMap.
	operatorPage = "docs/reference/operator-config.md"
	// metricsPage is the page about the operator's metrics.
	metricsPage = "docs/reference/metrics.md"
	// optionsPage is the page about the operator's command line and environment.
	optionsPage = "docs/reference/operator-flags.md"
	// versionsPage is the page about compatible versions.
	versionsPage = "docs/explanation/versions.md"
)

var keyHeading = regexp.MustCompile("(?m)^## `([a-zA-Z-]+)`$")

// The page about the operator's ConfigMap contains the name and the namespace of the ConfigMap, and each key with a
// valid example.
func TestOperatorConfig(t *testing.T) {
	p := readPage(t, operatorPage)
	var keys []string
	for _, match := range keyHeading.FindAllStringSubmatch(p.text, -1) {
		keys = append(keys, match[1])
		section := page{p.path, "\n" + p.section(t, "`"+match[1]+"`")}
		examples := section.fenced("yaml")
		if len(examples) == 0 {
			t.Errorf("%s: %s has no example", p.path, match[1])
		}
		for _, example := range examples {
			expectConfig(t, map[string]string{match[1]: example})
		}
	}
	slices.Sort(keys)
	if diff := cmp.Diff(operatorconfig.Keys(), keys); diff != "" {
		t.Errorf("%s, keys (-code +page):\n%s", p.path, diff)
	}
	var whole corev1.ConfigMap
	testutil.Must(t, yaml.UnmarshalStrict([]byte(p.fenced("yaml")[0]), &whole))
	if whole.Name != names.OperatorConfigMap || whole.Namespace != names.OperatorNamespace {
		t.Errorf("%s: the ConfigMap is %s in %s", p.path, whole.Name, whole.Namespace)
	}
	expectConfig(t, whole.Data)
}

func expectConfig(t *testing.T, data map[string]string) {
	t.Helper()
	_, errs := operatorconfig.Read(&corev1.ConfigMap{Data: data}, operatorconfig.Config{})
	for _, err := range errs {
		t.Errorf("an example is rejected: %s", strings.TrimSpace(err.Error()))
	}
}

var metricName = regexp.MustCompile(`"(llama_stack_operator_[a-z_]+)"`)

// The page about the operator's metrics lists all metrics, and no other metrics.
func TestMetrics(t *testing.T) {
	var made []string
	internal := os.DirFS(filepath.Join(testutil.Root(), "internal"))
	err := fs.WalkDir(internal, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		text, err := fs.ReadFile(internal, name)
		for _, match := range metricName.FindAllStringSubmatch(string(text), -1) {
			made = append(made, match[1])
		}
		return err
	})
	testutil.Must(t, err)
	var documented []string
	for line := range strings.SplitSeq(readPage(t, metricsPage).section(t, "List of metrics"), "\n") {
		if name, found := strings.CutPrefix(line, "| `"); found {
			name, _, _ = strings.Cut(name, "`")
			documented = append(documented, name)
		}
	}
	slices.Sort(made)
	slices.Sort(documented)
	if diff := cmp.Diff(made, documented); diff != "" || len(made) == 0 {
		t.Errorf("%s (-code +page):\n%s", metricsPage, diff)
	}
}
