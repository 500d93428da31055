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

// Every workload option has a golden case.
func TestEveryWorkloadOptionHasACase(t *testing.T) {
	var specs []map[string]any
	for _, name := range golden.Cases(t, "testdata") {
		var in struct {
			Stack struct {
				Spec map[string]any `json:"spec"`
			} `json:"stack"`
		}
		if err := yaml.Unmarshal(golden.Read(t, filepath.Join("testdata", name, "in.yaml")), &in); err != nil {
			t.Fatal(err)
		}
		specs = append(specs, in.Stack.Spec)
	}
	options := workloadOptions()
	if len(options) < 20 {
		t.Fatalf("found only %d options: %v", len(options), options)
	}
	for _, option := range options {
		if !shown(specs, option) {
			t.Errorf("spec.%s has no case in testdata", strings.Join(option, "."))
		}
	}
}

// workloadOptions returns the paths of all fields of the workload, and of its storage, autoscaling, podDisruptionBudget
// and overrides.
func workloadOptions() [][]string {
	var options [][]string
	for _, at := range []struct {
		path []string
		spec any
	}{
		{[]string{"workload"}, v1alpha2.WorkloadSpec{}},
		{[]string{"workload", "storage"}, v1alpha2.VolumeSpec{}},
		{[]string{"workload", "autoscaling"}, v1alpha2.AutoscalingSpec{}},
		{[]string{"workload", "podDisruptionBudget"}, v1alpha2.PodDisruptionBudgetSpec{}},
		{[]string{"workload", "overrides"}, v1alpha2.WorkloadOverrides{}},
	} {
		for spec, i := reflect.TypeOf(at.spec), 0; i < spec.NumField(); i++ {
			name, _, _ := strings.Cut(spec.Field(i).Tag.Get("json"), ",")
			options = append(options, append(slices.Clone(at.path), name))
		}
	}
	return options
}

func shown(specs []map[string]any, path []string) bool {
	for _, spec := range specs {
		var at any = spec
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

// Every network option has a golden case. This includes the options of a stack and the options in the operator's
// ConfigMap.
func TestEveryNetworkOptionHasACase(t *testing.T) {
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
		path []string
		of   reflect.Type
		not  []string // covered by a field of the case itself
	}{
		{[]string{"stack", "spec", "networking"}, reflect.TypeFor[v1alpha2.NetworkingSpec](), []string{"expose"}},
		{[]string{"stack", "spec", "networking", "tls"}, reflect.TypeFor[v1alpha2.TLSSpec](), []string{"caBundle"}},
		{[]string{"stack", "spec", "networking", "allowedFrom"}, reflect.TypeFor[v1alpha2.AllowedFromSpec](), nil},
		{[]string{"expose"}, reflect.TypeFor[v1alpha2.ExposeSpec](), []string{"enabled"}},
		{[]string{"cluster"}, reflect.TypeFor[render.Cluster](), nil},
		{[]string{"cluster", "ingress"}, reflect.TypeFor[render.Ingress](), nil},
		{[]string{"cluster", "gateway"}, reflect.TypeFor[render.Gateway](), nil},
	} {
		for f := range at.of.Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if count++; !slices.Contains(at.not, name) && !shown(cases, append(slices.Clone(at.path), name)) {
				t.Errorf("%s.%s has no case in testdata", strings.Join(at.path, "."), name)
			}
		}
	}
	if count < 20 {
		t.Errorf("found only %d options", count)
	}
}
