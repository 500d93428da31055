package api

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// named is a v1alpha1 stack for which the operator creates an object of almost every kind.
const named = `{apiVersion: llamastack.io/v1alpha1, kind: LlamaStackDistribution, metadata: {name: "NAME"}, spec: {
replicas: 2, network: {exposeRoute: true, allowedFrom: {namespaces: ["*"]}}, server: {
distribution: {image: "example.com/mine:1"}, containerSpec: {port: 8321}, autoscaling: {maxReplicas: 3}, storage: {},
podDisruptionBudget: {minAvailable: 1}, tlsConfig: {caBundle: {configMapName: ca}}}}}`

// refusedKinds renders a stack, and returns the kinds of its objects that the API server rejects.
func refusedKinds(t *testing.T, c client.Client, name string) (refused []string, warnings string) {
	t.Helper()
	var out, errs bytes.Buffer
	manifest := strings.NewReader(strings.ReplaceAll(named, "NAME", name))
	if code := cli.Run(cli.Streams{In: manifest, Out: &out, Err: &errs}, "test",
		[]string{"render", "-f", "-", "-o", "all"}); code != 0 {
		t.Fatalf("%s: exit code %d\n%s", name, code, errs.String())
	}
	rendered := 0
	for text := range strings.SplitSeq("\n"+out.String(), "\n---\n") {
		object := &unstructured.Unstructured{}
		testutil.Must(t, yaml.Unmarshal([]byte(text), &object.Object))
		if object.Object == nil {
			continue
		}
		rendered++
		object.SetNamespace("default")
		object.SetOwnerReferences(nil)
		switch err := c.Create(t.Context(), object, client.DryRunAll); {
		case apierrors.IsInvalid(err):
			refused = append(refused, object.GetKind())
		case err != nil:
			t.Errorf("%s: %s: %v", name, object.GetKind(), err)
		}
	}
	if rendered < 8 {
		t.Errorf("%s: %d objects", name, rendered)
	}
	slices.Sort(refused)
	return refused, errs.String()
}

// The name of a v1alpha1 stack may be invalid as the name of a Service. The API server then rejects only the Service
// and the objects that refer to the Service, and a warning reports this.
func TestNamesOfOlderStacks(t *testing.T) {
	c, err := client.New(plane.Config, client.Options{})
	testutil.Must(t, err)
	withoutService := []string{"Ingress", "Service"}
	var digitFirst []string
	if minorVersion(t) < 36 {
		digitFirst = withoutService
	}
	for name, tc := range map[string]struct {
		refused []string
		warning string
	}{
		"plain":                 {},
		"3scale-stack":          {digitFirst, "Kubernetes before 1.36 does not accept a Service"},
		"3":                     {digitFirst, "Kubernetes before 1.36 does not accept a Service"},
		"my.stack":              {withoutService, "Kubernetes does not accept a Service"},
		strings.Repeat("a", 56): {withoutService, "Kubernetes does not accept a Service"},
		strings.Repeat("a", 63): {withoutService, "Kubernetes does not accept a Service"},
	} {
		refused, warnings := refusedKinds(t, c, name)
		if diff := gocmp.Diff(tc.refused, refused); diff != "" {
			t.Errorf("%s: refused (-want +got):\n%s", name, diff)
		}
		wanted := fmt.Sprintf("warning: standard input: %s: metadata.name: %q: %s", name, name, tc.warning)
		if strings.Contains(warnings, "metadata.name") != (tc.warning != "") || tc.warning != "" &&
			!strings.Contains(warnings, wanted) {
			t.Errorf("%s: no %q in\n%s", name, wanted, warnings)
		}
	}
}

// minorVersion returns the minor version of Kubernetes that the API server runs or emulates.
func minorVersion(t *testing.T) int {
	t.Helper()
	discoverer, err := discovery.NewDiscoveryClientForConfig(plane.Config)
	testutil.Must(t, err)
	info, err := discoverer.ServerVersion()
	testutil.Must(t, err)
	minor, err := strconv.Atoi(strings.TrimSuffix(cmp.Or(info.EmulationMinor, info.Minor), "+"))
	testutil.Must(t, err)
	return minor
}
