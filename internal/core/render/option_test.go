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

// Every option of the workload and of the network has a golden case. This includes the options in the operator's
// ConfigMap.
func TestEveryOptionHasACase(t *testing.T) {
	var cases []map[string]any
	for _, name := range golden.Cases(t, "testdata") {
		var in map[string]any
		if err := yaml.Unmarshal(golden.Read(t, filepath.Join("testdata", name, "in.yaml")), &in); err != nil {
			t.Fatal(err)
		}
		cases = append(cases, in)
	}
	count := 0
	for _, at := range []struct {
		path string
		of   reflect.Type
		not  []string // covered by a field of the case itself
	}{
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
	} {
		for f := range at.of.Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			path := at.path + "." + name
			if count++; !slices.Contains(at.not, name) && !shown(cases, strings.Split(path, ".")) {
				t.Errorf("%s has no case in testdata", path)
			}
		}
	}
	if count < 40 {
		t.Errorf("found only %d options", count)
	}
}

// shown reports whether a case has a value at a path.
func shown(cases []map[string]any, path []string) bool {
	for _, in := range cases {
		var at any = in
		for _, key := range path {
			fields, _ := at.(map[string]any)
			at = fields[key]
		}
		if at != nil {
			return true
		}
	}
	return false
}
