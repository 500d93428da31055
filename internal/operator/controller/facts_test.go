package controller

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/document"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/dryrun"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/facts"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/hostname"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/operatorconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// TestSamePlan checks that the facts of the operator and those in files lead to the same objects, for every manifest of
// test/contract except one with an image that only the operator reads. Package cli has the same test for the facts that
// a user's client reads.
func TestSamePlan(t *testing.T) {
	files, err := filepath.Glob("../../../test/contract/testdata/cases/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, error %v", len(files), err)
	}
	gateway := testutil.NewOperatorConfigMap(operatorconfig.KeyGateway, "{name: public, namespace: gateways}")
	for where, tc := range map[string]samePlan{
		"anywhere":     {},
		"on OpenShift": {openShift: true, serves: []schema.GroupVersionKind{render.RouteKind}},
		"with a Gateway": {config: gateway, serves: []schema.GroupVersionKind{
			render.HTTPRouteKind, render.BackendTLSPolicyKind,
		}},
	} {
		for _, file := range files {
			name := strings.TrimSuffix(filepath.Base(file), ".yaml")
			if name == "image" { // the operator reads this image, and the command line reads no images
				continue
			}
			t.Run(name+" "+where, func(t *testing.T) {
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
	openShift bool
	serves    []schema.GroupVersionKind
	config    *corev1.ConfigMap
	others    []client.Object
	owner     *hostname.Owner
}

func (c samePlan) check(t *testing.T, manifests []byte) {
	t.Helper()
	m := dryrun.Gather(document.Parse("case.yaml", manifests, false), "team")
	m.HostOwner = c.owner
	m.Platform = facts.Platform{OpenShift: c.openShift, Serves: func(kind schema.GroupVersionKind) bool {
		return slices.Contains(c.serves, kind)
	}}
	objects := slices.Clone(c.others)
	if c.config != nil {
		objects = append(objects, c.config)
		m.Config, _ = operatorconfig.Read(c.config, operatorconfig.Config{})
	}
	for key, object := range m.ConfigMaps {
		object.Namespace = key.Namespace
		objects = append(objects, object)
	}
	for key, object := range m.Secrets {
		object.Namespace = key.Namespace
		objects = append(objects, object)
	}
	for _, s := range m.Stacks {
		s.Object.SetGroupVersionKind(v1alpha2.GroupVersionKind)
		s.Object.UID, s.Object.Generation = "uid", 1
		offline := m.Plan(s)
		if offline.Plan == nil {
			t.Fatal(offline.Errors)
		}
		f := newFixtureOn(t, c.openShift, c.serves, objects...)
		f.planner.Version = "" // the command line does not know the version of the operator
		found, err := f.runSteps(t, s.Object, "plan")
		testutil.Must(t, err)
		if diff := cmp.Diff(contents(t, found.planned.Plan), contents(t, offline.Plan)); diff != "" {
			t.Errorf("objects of the operator (-), and of the command line (+):\n%s", diff)
		}
	}
}

// contents returns the objects of a plan, with the record of what the plan was made from.
func contents(t *testing.T, built *plan.Plan) []map[string]any {
	t.Helper()
	var all []map[string]any
	for _, object := range built.Objects {
		content, err := render.Unstructured(object)
		testutil.Must(t, err)
		all = append(all, content.Object)
	}
	return all
}
