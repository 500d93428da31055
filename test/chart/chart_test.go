package chart

import (
	"flag"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/lint"
	"helm.sh/helm/v4/pkg/chart/v2/lint/support"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"
	"helm.sh/helm/v4/pkg/engine"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "rewrite the golden files with the output of the tests")

const (
	root      = "../.."
	folder    = root + "/charts/llama-stack-k8s-operator"
	release   = "llama-stack-k8s-operator"
	namespace = "llama-stack-k8s-operator-system"
)

// copied lists the templates that are copied from config/. TestDefinitionAndPolicy compares them with config/.
// TestRender compares the other templates with golden files.
var copied = []string{"customresourcedefinition.yaml", "policy.yaml"}

// render returns the output of each template for the given values. It omits templates whose output is empty.
func render(t *testing.T, values map[string]any) (map[string]string, error) {
	t.Helper()
	chart, err := loader.Load(folder)
	if err != nil {
		t.Fatal(err)
	}
	return renderChart(chart, values)
}

func renderChart(chart *chartv2.Chart, values map[string]any) (map[string]string, error) {
	options := common.ReleaseOptions{Name: release, Namespace: namespace, Revision: 1, IsInstall: true}
	complete, err := util.ToRenderValues(chart, values, options, common.DefaultCapabilities)
	if err != nil {
		return nil, err
	}
	texts, err := engine.Render(chart, complete)
	if err != nil {
		return nil, err
	}
	made := map[string]string{}
	for path, text := range texts {
		if text = strings.TrimSpace(text); text != "" && !strings.HasSuffix(path, ".tpl") {
			made[filepath.Base(path)] = text + "\n"
		}
	}
	return made, nil
}

func readValues(t *testing.T, text string) map[string]any {
	t.Helper()
	values := map[string]any{}
	if err := yaml.UnmarshalStrict([]byte(text), &values); err != nil {
		t.Fatal(err)
	}
	return values
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// A checkout without the files of `make chart` causes an error, and not objects without their parts.
func TestCheckoutWithoutFiles(t *testing.T) {
	chart, err := loader.Load(folder)
	if err != nil {
		t.Fatal(err)
	}
	chart.Files = nil
	if _, err := renderChart(chart, nil); err == nil || !strings.Contains(err.Error(), "make chart") {
		t.Errorf("error %v", err)
	}
}

// cases returns the folders in testdata/render.
func cases(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob("testdata/render/*/values.yaml")
	if err != nil || len(found) == 0 {
		t.Fatalf("found %d cases, error %v", len(found), err)
	}
	for i := range found {
		found[i] = filepath.Dir(found[i])
	}
	return found
}

func TestRender(t *testing.T) {
	for _, path := range cases(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			made, err := render(t, readValues(t, readFile(t, filepath.Join(path, "values.yaml"))))
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range copied {
				delete(made, name)
			}
			want := filepath.Join(path, "want")
			if *update {
				write(t, want, made)
			}
			if diff := cmp.Diff(read(t, want), made); diff != "" {
				t.Errorf("review the difference, and run the test with -update (-want +got):\n%s", diff)
			}
		})
	}
}

func read(t *testing.T, folder string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			files[entry.Name()] = readFile(t, path)
		}
		return err
	})
	if err != nil {
		t.Fatalf("run with -update: %v", err)
	}
	return files
}

func write(t *testing.T, folder string, files map[string]string) {
	t.Helper()
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// With the values of every case, `helm lint` reports no warnings and no errors. It reports a missing icon only as
// information.
func TestLint(t *testing.T) {
	for _, path := range cases(t) {
		values := readValues(t, readFile(t, filepath.Join(path, "values.yaml")))
		for _, message := range lint.RunAll(folder, values, namespace).Messages {
			if message.Severity > support.InfoSev {
				t.Errorf("%s: %v", filepath.Base(path), message)
			}
		}
	}
}

func TestRefused(t *testing.T) {
	for _, test := range []struct {
		name, values string
		want         []string
	}{
		{"a key that no template reads", "replica: 2", []string{"additional properties 'replica' not allowed"}},
		{"a key in a section", "image: {name: x}", []string{"at '/image'", "additional properties 'name' not allowed"}},
		{"a text instead of a number", "replicas: two", []string{"at '/replicas'", "got string, want integer"}},
		{"a negative count", "replicas: -1", []string{"at '/replicas'", "minimum: got -1, want 0"}},
		{"a text instead of a list", "watchNamespaces: team-a", []string{"at '/watchNamespaces'", "got string, want array"}},
		{
			"an invalid name of a namespace", "watchNamespaces: [Team A]",
			[]string{"at '/watchNamespaces/0'", "'Team A' does not match pattern"},
		},
		{"a digest without its algorithm", "image: {digest: abc}", []string{"at '/image/digest'", "does not match pattern"}},
		{"an unknown pull policy", "image: {pullPolicy: Sometimes}", []string{"at '/image/pullPolicy'", "value must be one of '', 'Always', 'IfNotPresent', 'Never'"}},
		{
			"a duration without a unit", "leaderElection: {leaseDuration: '15'}",
			[]string{"at '/leaderElection/leaseDuration'", "does not match pattern"},
		},
		{"an argument that is not a flag", "args: [concurrency=8]", []string{"at '/args/0'", "does not match pattern '^-'"}},
		{"a key of the operator's ConfigMap", "operatorConfig: {data: {ingres: {}}}", []string{"at '/operatorConfig/data'", "additional properties 'ingres' not allowed"}},
		{"the ConfigMap's text", "operatorConfig: {data: {ingress: 'domain: x'}}", []string{"at '/operatorConfig/data/ingress'", "got string, want object"}},
		{"several active replicas", "{replicas: 2, leaderElection: {enabled: false}}", []string{"replicas: 2 replicas would be active at the same time; set leaderElection.enabled to true, or set replicas to 1"}},
		{"a ServiceMonitor without metrics", "{watchNamespaces: [a], metrics: {serviceMonitor: {enabled: true}}}", []string{"metrics.serviceMonitor.enabled: the metrics are not enabled; set metrics.enabled to true"}},
		{"two budgets", "podDisruptionBudget: {minAvailable: 1}", []string{"podDisruptionBudget: minAvailable and maxUnavailable cannot be combined; to use minAvailable, set maxUnavailable to null"}},
		{"data without a ConfigMap", "operatorConfig: {create: false, data: {ingress: {domain: x}}}", []string{"operatorConfig.data: has no effect while operatorConfig.create is false; remove operatorConfig.data"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := render(t, readValues(t, test.values))
			if err == nil {
				t.Fatal("the chart accepts it")
			}
			for _, part := range test.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%v\nwithout %q", err, part)
				}
			}
		})
	}
}

// objects returns the objects in the output of a template, keyed by kind.
func objects(t *testing.T, text string) map[string]map[string]any {
	t.Helper()
	found := map[string]map[string]any{}
	for document := range strings.SplitSeq(text, "\n---\n") {
		object := map[string]any{}
		if err := yaml.Unmarshal([]byte(document), &object); err != nil {
			t.Fatal(err)
		}
		found[object["kind"].(string)] = object
	}
	return found
}

// The alerts and the dashboard are the same as in config/monitoring.
func TestMonitoring(t *testing.T) {
	made, err := render(t, readValues(t, "metrics: {prometheusRule: {enabled: true}, dashboard: {enabled: true}}"))
	if err != nil {
		t.Fatal(err)
	}
	found := objects(t, made["monitoring.yaml"])
	rule := objects(t, readFile(t, root+"/config/monitoring/prometheusrule.yaml"))["PrometheusRule"]
	if diff := cmp.Diff(rule["spec"], found["PrometheusRule"]["spec"]); diff != "" {
		t.Errorf("the alerts (-config +chart):\n%s", diff)
	}
	want := map[string]any{"dashboard.json": readFile(t, root+"/config/monitoring/dashboard.json")}
	if diff := cmp.Diff(want, found["ConfigMap"]["data"]); diff != "" {
		t.Errorf("the dashboard (-config +chart):\n%s", diff)
	}
	for kind, object := range found {
		if labels := object["metadata"].(map[string]any)["labels"].(map[string]any); labels["app.kubernetes.io/name"] == nil {
			t.Errorf("the %s has the labels %v", kind, labels)
		}
	}
}

// The definition and the policy are the same as in the other installation methods.
func TestDefinitionAndPolicy(t *testing.T) {
	made, err := render(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ template, kind, source string }{
		{"customresourcedefinition.yaml", "CustomResourceDefinition", "config/crd/bases/llamastack.io_llamastackdistributions.yaml"},
		{"policy.yaml", "ValidatingAdmissionPolicy", "config/policy/validatingadmissionpolicy.yaml"},
		{"policy.yaml", "ValidatingAdmissionPolicyBinding", "config/policy/validatingadmissionpolicybinding.yaml"},
	} {
		want := objects(t, readFile(t, filepath.Join(root, test.source)))[test.kind]
		got := objects(t, made[test.template])[test.kind]
		for _, object := range []map[string]any{want, got} {
			object["metadata"] = object["metadata"].(map[string]any)["name"]
		}
		if diff := cmp.Diff(want, got); diff != "" || len(got) < 3 {
			t.Errorf("%s (-%s +chart):\n%s", test.kind, test.source, diff)
		}
	}
}

// By default, an annotation prevents Helm from deleting the definition, because the API server would then delete all
// its objects. With crds.enabled set to false, the output contains the policy without the definition. With
// policy.enabled set to false, it contains the definition without the policy.
func TestTheDefinitionIsKept(t *testing.T) {
	for values, want := range map[string]any{
		"{}": map[string]any{"helm.sh/resource-policy": "keep"}, "crds: {keep: false}": nil,
	} {
		made, err := render(t, readValues(t, values))
		if err != nil {
			t.Fatal(err)
		}
		definition := objects(t, made["customresourcedefinition.yaml"])["CustomResourceDefinition"]
		if diff := cmp.Diff(want, definition["metadata"].(map[string]any)["annotations"]); diff != "" {
			t.Errorf("annotations with %s (-want +got):\n%s", values, diff)
		}
	}
	for _, values := range []string{"crds: {enabled: false}", "policy: {enabled: false}"} {
		made, err := render(t, readValues(t, values))
		if err != nil {
			t.Fatal(err)
		}
		left := slices.DeleteFunc(slices.Clone(copied), func(name string) bool { return made[name] == "" })
		if len(left) != 1 {
			t.Errorf("with %s, the output still contains %q of %q", values, left, slices.Sorted(maps.Keys(made)))
		}
	}
}

var values = regexp.MustCompile("(?ms)^```yaml title=\"values.yaml\"\n(.*?)\n```$")

// TestCloudIdentities renders the chart with the values in the page about cloud identities. For each cloud, the
// ServiceAccount and the pods have the required annotations and labels, and the ConfigMap contains the first entry of
// registries.cloudIdentity.
func TestCloudIdentities(t *testing.T) {
	page := readFile(t, root+"/docs/how-to/cloud-identities.md")
	examples := values.FindAllStringSubmatch(page, -1)
	if len(examples) != 3 {
		t.Fatalf("found %d examples, want one for each of three clouds", len(examples))
	}
	for _, example := range examples {
		given := readValues(t, example[1])
		made, err := render(t, given)
		if err != nil {
			t.Error(err)
			continue
		}
		account := objects(t, made["serviceaccount.yaml"])["ServiceAccount"]
		wanted := given["serviceAccount"].(map[string]any)["annotations"]
		if diff := cmp.Diff(wanted, account["metadata"].(map[string]any)["annotations"]); diff != "" {
			t.Errorf("annotations (-want +got):\n%s", diff)
		}
		if labels, ok := given["podLabels"].(map[string]any); ok {
			template := objects(t, made["deployment.yaml"])["Deployment"]["spec"].(map[string]any)["template"].(map[string]any)
			for key, value := range labels {
				if got := template["metadata"].(map[string]any)["labels"].(map[string]any)[key]; got != value {
					t.Errorf("the pods have the label %s: %v, want %v", key, got, value)
				}
			}
		}
		data := given["operatorConfig"].(map[string]any)["data"].(map[string]any)
		list := data["registries"].(map[string]any)["cloudIdentity"].([]any)[0].(string)
		if !strings.Contains(made["operator_config.yaml"], list) {
			t.Errorf("the ConfigMap has no %q:\n%s", list, made["operator_config.yaml"])
		}
	}
}

// The chart accepts Kubernetes versions from 1.30 on, including versions with a suffix that a vendor adds.
func TestVersionsOfKubernetes(t *testing.T) {
	chart, err := loader.Load(folder)
	if err != nil {
		t.Fatal(err)
	}
	for version, want := range map[string]bool{
		"v1.29.15":             false,
		"v1.29.15-eks-1234567": false,
		"v1.30.0":              true,
		"v1.30.4-gke.1348000":  true,
		"v1.34.4+k3s1":         true,
		"v1.37.2":              true,
	} {
		if got := chartutil.IsCompatibleRange(chart.Metadata.KubeVersion, version); got != want {
			t.Errorf("Kubernetes %s is accepted: %t, want %t", version, got, want)
		}
	}
}
