package install

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/operatorconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// rendered returns the objects that the chart renders for the values of a case. It reads them from the golden files in
// test/chart.
func rendered(t *testing.T, name string) manifest {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(testutil.Root(), "test/chart/testdata/render", name, "want/*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("case %s of the chart has %d files, error %v", name, len(files), err)
	}
	objects := manifest{}
	for _, file := range files {
		found, err := testutil.ReadObjects(file)
		testutil.Must(t, err)
		for _, object := range found {
			objects[object.GetKind()] = append(objects[object.GetKind()], object)
		}
	}
	return objects
}

// byName returns the objects of a manifest, without the installer's labels, keyed by kind, namespace and name.
func byName(objects manifest) map[string]map[string]any {
	found := map[string]map[string]any{}
	for kind, each := range objects {
		for _, object := range each {
			labels := object.GetLabels()
			maps.DeleteFunc(labels, func(key, _ string) bool {
				return strings.HasPrefix(key, "app.kubernetes.io/") || strings.HasPrefix(key, "helm.sh/")
			})
			object.SetLabels(labels)
			if len(labels) == 0 {
				unstructured.RemoveNestedField(object.Object, "metadata", "labels")
			}
			found[kind+" "+object.GetNamespace()+"/"+object.GetName()] = object.Object
		}
	}
	return found
}

// A release with the chart's own name has the same objects as the manifest, with the same names, rules and arguments.
// The comparison omits the values that Helm sets differently, the namespace, the objects that test/chart compares, and
// the ConfigMap, which only the chart contains. Without the chart, the operator creates the ConfigMap.
func TestTheChartInstallsTheSame(t *testing.T) {
	chart, file := rendered(t, "default"), read(t, plain)
	for _, kind := range []string{
		"Namespace", "CustomResourceDefinition", "ValidatingAdmissionPolicy",
		"ValidatingAdmissionPolicyBinding",
	} {
		delete(file, kind)
	}
	config := one[corev1.ConfigMap](t, chart, "ConfigMap")
	if config.Name != names.OperatorConfigMap || config.Namespace != names.OperatorNamespace || len(config.Data) != 0 {
		t.Errorf("ConfigMap %s in %s with %v", config.Name, config.Namespace, config.Data)
	}
	delete(chart, "ConfigMap")
	if diff := cmp.Diff(byName(file), byName(chart)); diff != "" {
		t.Errorf("(-%s +chart):\n%s", plain, diff)
	}
}

func TestTheChartsArguments(t *testing.T) {
	for name, namespaces := range map[string][]string{
		"default": nil, "everything": {"team-a"}, "namespaces": {"team-a", "team-b"}, "own": nil,
	} {
		t.Run(name, func(t *testing.T) {
			objects := rendered(t, name)
			if diff := cmp.Diff(namespaces, arguments(t, objects).WatchNamespaces); diff != "" {
				t.Errorf("namespaces (-want +got):\n%s", diff)
			}
			for _, namespace := range namespaces {
				if diff := cmp.Diff(inNamespace(clusterRole(t, read(t, plain)).Rules),
					roleIn(t, objects, namespace).Rules); diff != "" {
					t.Errorf("rules in %s (-ClusterRole +got):\n%s", namespace, diff)
				}
			}
		})
	}
}

func TestTheChartHasRolesOnlyForNamespaces(t *testing.T) {
	objects := rendered(t, "namespaces")
	for _, kind := range []string{"ClusterRole", "ClusterRoleBinding", "Service"} {
		if n := len(objects[kind]); n != 0 {
			t.Errorf("%d objects of kind %s", n, kind)
		}
	}
	if address := arguments(t, objects).MetricsBindAddress; address != "0" {
		t.Errorf("metrics are served at %q", address)
	}
}

// The chart accepts the keys of the operator's ConfigMap, and the operator can read the ConfigMap that the chart
// renders from them.
func TestTheChartsOperatorConfig(t *testing.T) {
	config := one[corev1.ConfigMap](t, rendered(t, "everything"), "ConfigMap")
	if diff := cmp.Diff(operatorconfig.Keys(), slices.Sorted(maps.Keys(config.Data))); diff != "" {
		t.Errorf("keys of the case (-code +chart):\n%s", diff)
	}
	_, errs := operatorconfig.Read(&config, operatorconfig.Config{})
	for _, err := range errs {
		t.Error(err)
	}
	var schema struct {
		Properties struct {
			OperatorConfig struct {
				Properties struct {
					Data struct{ Properties map[string]any }
				}
			}
		}
	}
	testutil.Must(t, json.Unmarshal([]byte(readFile(t, "charts/llama-stack-k8s-operator/values.schema.json")), &schema))
	if diff := cmp.Diff(operatorconfig.Keys(),
		slices.Sorted(maps.Keys(schema.Properties.OperatorConfig.Properties.Data.Properties))); diff != "" {
		t.Errorf("keys of the schema (-code +chart):\n%s", diff)
	}
}
