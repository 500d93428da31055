package render_test

import (
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/golden"
)

// options are the types with options, and where they are in the cases. A star matches any name.
var options = []struct {
	path string
	of   reflect.Type
	not  []string // other fields of the cases, or other tests, cover these
}{
	{"spec", reflect.TypeFor[v1alpha2.LlamaStackDistributionSpec](), []string{"baseConfig", "overrideConfig"}},
	{"spec.distribution", reflect.TypeFor[v1alpha2.DistributionSpec](), []string{"imageUpdates"}},
	{"spec.providers", reflect.TypeFor[v1alpha2.ProvidersSpec](), nil},
	{"spec.providers.*", reflect.TypeFor[v1alpha2.Provider](), nil},
	{"spec.resources", reflect.TypeFor[v1alpha2.ResourcesSpec](), nil},
	{"spec.resources.models", reflect.TypeFor[v1alpha2.Model](), nil},
	{"spec.resources.tools", reflect.TypeFor[v1alpha2.Tool](), nil},
	{"spec.resources.shields", reflect.TypeFor[v1alpha2.Shield](), nil},
	{"spec.externalProviders.*", reflect.TypeFor[v1alpha2.ExternalProvider](), []string{"imagePullPolicy"}},
	{"spec.storage", reflect.TypeFor[v1alpha2.StateStorageSpec](), nil},
	{"spec.storage.kv", reflect.TypeFor[v1alpha2.KVStorageSpec](), nil},
	{"spec.storage.sql", reflect.TypeFor[v1alpha2.SQLStorageSpec](), nil},
	{"stack.spec.workload", reflect.TypeFor[v1alpha2.WorkloadSpec](), nil},
	{"stack.spec.workload.storage", reflect.TypeFor[v1alpha2.VolumeSpec](), nil},
	{"stack.spec.workload.autoscaling", reflect.TypeFor[v1alpha2.AutoscalingSpec](), nil},
	{"stack.spec.workload.podDisruptionBudget", reflect.TypeFor[v1alpha2.PodDisruptionBudgetSpec](), nil},
	{"stack.spec.workload.overrides", reflect.TypeFor[v1alpha2.WorkloadOverrides](), nil},
	{"stack.spec.networking", reflect.TypeFor[v1alpha2.NetworkingSpec](), []string{"expose"}},
	{"stack.spec.networking.tls", reflect.TypeFor[v1alpha2.TLSSpec](), []string{"caBundle"}},
	{"stack.spec.networking.allowedFrom", reflect.TypeFor[v1alpha2.AllowedFromSpec](), nil},
	{"expose", reflect.TypeFor[v1alpha2.ExposeSpec](), []string{"enabled"}},
	{"cluster", reflect.TypeFor[render.Cluster](), nil},
	{"cluster.ingress", reflect.TypeFor[render.Ingress](), nil},
	{"cluster.gateway", reflect.TypeFor[render.Gateway](), nil},
}

// Every option has a golden case: those that affect the configuration in package stackconfig, and those of the
// workload, of the network and of the operator's ConfigMap in this package.
func TestEveryOptionHasACase(t *testing.T) {
	written := map[string]bool{}
	read := func(file string) (content map[string]any) {
		if err := yaml.Unmarshal(golden.Read(t, file), &content); err != nil {
			t.Fatal(err)
		}
		return content
	}
	for _, name := range golden.Cases(t, "testdata") {
		for key, value := range read(filepath.Join("testdata", name, "in.yaml")) {
			collect(value, key, written)
		}
	}
	steps := filepath.Join("..", "stackconfig", "testdata")
	for _, step := range golden.Cases(t, steps) {
		for _, name := range golden.Cases(t, filepath.Join(steps, step)) {
			collect(read(filepath.Join(steps, step, name, "cr.yaml"))["spec"], "spec", written)
		}
	}
	count := 0
	for _, at := range options {
		for f := range at.of.Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "-" || slices.Contains(at.not, name) {
				continue
			}
			if count++; !matches(written, at.path+"."+name) {
				t.Errorf("%s.%s has no case in testdata", at.path, name)
			}
		}
	}
	if count < 90 {
		t.Errorf("found only %d options", count)
	}
}

// collect records the paths of all values. All entries in a list have the same path.
func collect(value any, path string, written map[string]bool) {
	written[path] = written[path] || value != nil
	switch value := value.(type) {
	case map[string]any:
		for name, field := range value {
			collect(field, path+"."+name, written)
		}
	case []any:
		for _, entry := range value {
			collect(entry, path, written)
		}
	}
}

func matches(written map[string]bool, pattern string) bool {
	before, after, open := strings.Cut(pattern, "*")
	if !open {
		return written[pattern]
	}
	for path := range written {
		middle, found := strings.CutPrefix(path, before)
		if middle, ends := strings.CutSuffix(middle, after); found && ends && !strings.Contains(middle, ".") {
			return true
		}
	}
	return false
}
