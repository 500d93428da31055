package installed

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

const (
	chart   = "charts/llama-stack-k8s-operator"
	release = "llama-stack-k8s-operator"
)

// helm runs the helm command that `make` builds. It uses the operator's namespace.
func (c *cluster) helm(t *testing.T, arguments ...string) string {
	t.Helper()
	program := filepath.Join(testutil.Root(), ".cache", "bin", "helm")
	if _, err := os.Stat(program); err != nil {
		t.Fatalf("the helm command does not exist: run these tests with `make test`, or `make .cache/bin/helm` first: %v", err)
	}
	return run(t, testutil.Root(), program, append(arguments, "--kubeconfig="+c.Kubeconfig,
		"--namespace="+names.OperatorNamespace)...)
}

// installChart installs an older chart with its default values, and upgrades the release to the current chart with the
// given values. The upgrade must replace the CustomResourceDefinition, and remove objects that the values disable.
func (c *cluster) installChart(t *testing.T, values []string) {
	t.Helper()
	c.makeNamespace(t, names.OperatorNamespace)
	c.kubectl(t, "label", "namespace", names.OperatorNamespace, "pod-security.kubernetes.io/enforce=restricted")
	c.helm(t, "install", release, olderChart(t))
	rights := []string{"clusterrole/llama-stack-k8s-operator-manager-role", "clusterrolebinding/llama-stack-k8s-operator-manager-rolebinding"}
	c.kubectl(t, append([]string{"get"}, rights...)...)
	c.expectShortName(t, "older")

	c.helm(t, "upgrade", release, currentChart(t), "--set="+strings.Join(values, ","))
	c.expectShortName(t, "llsd")
	if left := c.kubectl(t, append([]string{"get", "--ignore-not-found", "--output=name"}, rights...)...); left != "" {
		t.Errorf("the upgrade did not remove permissions: %s", left)
	}
}

// currentChart returns the path of the chart of the release, or of this work tree.
func currentChart(t *testing.T) string {
	t.Helper()
	if releaseFolder == "" {
		return chart
	}
	packed, err := filepath.Glob(filepath.Join(releaseFolder, release+"-*.tgz"))
	if err != nil || len(packed) != 1 {
		t.Fatalf("the release has the charts %q, want one (error %v)", packed, err)
	}
	return packed[0]
}

// olderChart copies the chart, sets a different short name in the CustomResourceDefinition, and returns the folder of
// the copy.
func olderChart(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	testutil.Must(t, os.CopyFS(folder, os.DirFS(filepath.Join(testutil.Root(), chart))))
	file := filepath.Join(folder, "files", "customresourcedefinition.yaml")
	definition, err := os.ReadFile(file)
	testutil.Must(t, err)
	older := strings.Replace(string(definition), "\n    - llsd\n", "\n    - older\n", 1)
	if older == string(definition) {
		t.Fatal("the definition has no short name llsd that the test can change")
	}
	testutil.Must(t, os.WriteFile(file, []byte(older), 0o600))
	return folder
}

func (c *cluster) expectShortName(t *testing.T, want string) {
	t.Helper()
	definition := &apiextensionsv1.CustomResourceDefinition{}
	testutil.Must(t, c.Get(t.Context(), client.ObjectKey{Name: "llamastackdistributions.llamastack.io"}, definition))
	if diff := cmp.Diff([]string{want}, definition.Spec.Names.ShortNames); diff != "" {
		t.Errorf("short names of the definition (-want +got):\n%s", diff)
	}
}

// uninstallChart removes the release. The CustomResourceDefinition and the stacks remain, and the next release adopts
// them. At the end, uninstallChart removes the next release and the CustomResourceDefinition.
func (c *cluster) uninstallChart(t *testing.T, namespace string) {
	t.Helper()
	c.helm(t, "uninstall", release)
	stack := &unstructured.Unstructured{}
	stack.SetGroupVersionKind(v1alpha2.GroupVersion.WithKind("LlamaStackDistribution"))
	key := client.ObjectKey{Namespace: namespace, Name: "stack"}
	if err := c.Get(t.Context(), key, stack); err != nil {
		t.Fatalf("the stack must outlive the release: %v", err)
	}
	left := c.kubectl(t, "get", "deployments,serviceaccounts,services,configmaps,roles,rolebindings,poddisruptionbudgets,networkpolicies",
		"--namespace="+names.OperatorNamespace, "--selector=app.kubernetes.io/managed-by=Helm", "--output=name")
	if left != "" {
		t.Errorf("objects remain in the operator's namespace: %s", left)
	}
	c.helm(t, "install", release, currentChart(t))
	uid := stack.GetUID()
	if err := c.Get(t.Context(), key, stack); err != nil || stack.GetUID() != uid {
		t.Errorf("the stack was replaced in the new installation (error %v)", err)
	}
	c.helm(t, "uninstall", release)
	c.kubectl(t, "delete", "crd/llamastackdistributions.llamastack.io", "--timeout=60s")
}
