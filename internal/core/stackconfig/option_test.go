package stackconfig_test

import (
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/golden"
)

// Every option that affects the configuration has a golden case. The options of the workload and of the network are
// listed in the packages that render objects.
func TestEveryOptionHasACase(t *testing.T) {
	written := map[string]bool{}
	for _, step := range golden.Cases(t, "testdata") {
		for _, name := range golden.Cases(t, filepath.Join("testdata", step)) {
			var stack map[string]any
			if err := yaml.Unmarshal(golden.Read(t, filepath.Join("testdata", step, name, "cr.yaml")), &stack); err != nil {
				t.Fatal(err)
			}
			collect(stack["spec"], "spec", written)
		}
	}
	count := 0
	for _, at := range []struct {
		path string // * matches any name
		of   reflect.Type
		not  []string // other tests cover these
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
	} {
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
	if count < 50 {
		t.Errorf("found only %d options", count)
	}
}

// collect records the paths of all values in a spec. All entries in a list have the same path.
func collect(value any, path string, written map[string]bool) {
	written[path] = true
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
