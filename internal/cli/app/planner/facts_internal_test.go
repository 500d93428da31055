package planner

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/kube"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/document"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/dryrun"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/facts"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/hostname"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/operatorconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// TestSamePlan checks that the facts that a user's client reads and those in files lead to the same objects, for every
// manifest of test/contract. Package controller has the same test for the facts of the operator.
func TestSamePlan(t *testing.T) {
	files, err := filepath.Glob("../../../../test/contract/testdata/cases/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, error %v", len(files), err)
	}
	gateway := operatorconfig.Config{Gateway: &operatorconfig.Gateway{Name: "public", Namespace: "gateways"}}
	for where, tc := range map[string]samePlan{
		"anywhere":     {},
		"on OpenShift": {serves: []schema.GroupVersionKind{facts.Constraints, render.RouteKind}},
		"with a Gateway": {config: gateway, serves: []schema.GroupVersionKind{
			render.HTTPRouteKind, render.BackendTLSPolicyKind,
		}},
	} {
		for _, file := range files {
			t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml")+" "+where, func(t *testing.T) {
				data, err := os.ReadFile(file)
				testutil.Must(t, err)
				tc.check(t, data)
			})
		}
	}
}

// TestSamePlanWithoutHostName is like TestSamePlan, for a stack whose host name another stack has.
func TestSamePlanWithoutHostName(t *testing.T) {
	const spec = `{distribution: {name: starter}, networking: {expose: {hostname: llama.example.com}}}`
	other := testutil.NewStack(t, spec)
	other.Namespace, other.Name, other.UID = "theirs", "other", "uid-of-other"
	other.Status.RouteURL = "http://llama.example.com"
	samePlan{others: []client.Object{other}, owner: &hostname.Owner{
		Host: "llama.example.com", Namespace: "theirs", Name: "other",
	}}.check(t, []byte("{apiVersion: llamastack.io/v1alpha2, kind: LlamaStackDistribution, metadata: {name: my}, spec: "+spec+"}"))
}

// samePlan is a cluster for which two plans of a stack are compared.
type samePlan struct {
	config operatorconfig.Config
	serves []schema.GroupVersionKind
	others []client.Object
	owner  *hostname.Owner
}

func (c samePlan) check(t *testing.T, manifests []byte) {
	t.Helper()
	m := dryrun.Gather(document.Parse("case.yaml", manifests, false), "team")
	scheme, err := testutil.NewScheme()
	testutil.Must(t, err)
	m.HostOwner = c.owner
	objects := slices.Clone(c.others)
	for key, object := range m.ConfigMaps {
		object.Namespace = key.Namespace
		objects = append(objects, object)
	}
	r := New(&kube.Cluster{
		Client: fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build(), Namespace: "team",
	}, "")
	r.Config = c.config
	for _, kind := range []schema.GroupVersionKind{
		facts.Constraints, render.RouteKind, render.HTTPRouteKind, render.BackendTLSPolicyKind,
	} {
		r.served[kind] = false
	}
	for _, kind := range c.serves {
		r.served[kind] = true
	}
	m.Config, m.Platform = c.config, facts.Platform{
		OpenShift: r.served[facts.Constraints],
		Serves:    func(kind schema.GroupVersionKind) bool { return r.served[kind] },
	}
	for _, s := range m.Stacks {
		known, err := r.Running(t.Context(), s.Object)
		testutil.Must(t, err)
		live, err := r.References(t.Context(), s.Object)
		testutil.Must(t, err)
		live.Secrets = m.Secrets
		want, got := m.Plan(s), live.With(known).Plan(s)
		if diff := cmp.Diff(objectsOf(t, want), objectsOf(t, got)); diff != "" {
			t.Errorf("objects for files (-), and for the cluster (+):\n%s", diff)
		}
	}
}

// objectsOf returns the objects of a plan as text, or the errors if there is no plan.
func objectsOf(t *testing.T, found dryrun.Outcome) []string {
	t.Helper()
	if found.Plan == nil {
		return found.Errors
	}
	objects, err := dryrun.Objects(found.Plan)
	testutil.Must(t, err)
	var texts []string
	for _, object := range objects {
		texts = append(texts, string(object.Text))
	}
	return texts
}

// TestFewLongObjects checks that a reader that looks at all stacks does not keep long Deployments or many ConfigMaps,
// which tenants can write, and that it still reads the long Deployment of a stack.
func TestFewLongObjects(t *testing.T) {
	scheme, err := testutil.NewScheme()
	testutil.Must(t, err)
	labels := map[string]string{names.LabelManagedBy: names.ManagedBy}
	short := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "short", Labels: labels}}
	long := short.DeepCopy()
	long.Name, long.Spec.Template.Spec.Containers = "long", make([]corev1.Container, 1000)
	objects := []client.Object{short, long}
	for i := range 5 {
		objects = append(objects, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: fmt.Sprint(i)},
			Data:       map[string]string{"a": strings.Repeat("a", maxMapped/4)},
		})
	}
	r := New(&kube.Cluster{
		Client: fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build(), Namespace: "team",
	}, "")
	testutil.Must(t, r.ListDeployments(t.Context(), true))
	key := dryrun.Key{Namespace: "team", Name: long.Name}
	if kept, listed := r.deployments[key]; !listed || kept != nil {
		t.Errorf("the long Deployment is listed: %t, and has %d containers", listed, len(kept.Spec.Template.Spec.Containers))
	}
	for name, want := range map[string]int{short.Name: 0, long.Name: 1000, "missing": -1} {
		stack := &v1alpha2.LlamaStackDistribution{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name}}
		found, err := r.Running(t.Context(), stack)
		testutil.Must(t, err)
		got := -1
		if found.Deployment != nil {
			got = len(found.Deployment.Spec.Template.Spec.Containers)
		}
		if got != want {
			t.Errorf("the Deployment of stack %q has %d containers, want %d", name, got, want)
		}
	}
	size := 0
	for i := range 5 {
		if _, err := r.configMap(t.Context(), dryrun.Key{Namespace: "team", Name: fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
	}
	for _, kept := range r.configMaps {
		size += kept.Size()
	}
	if size > maxMapped || size == 0 {
		t.Errorf("%d bytes of ConfigMaps are kept, want at most %d", size, maxMapped)
	}
}
