package watch

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	ctrlevent "sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/operatorconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/caches"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/hosts"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// fixture is a Stacks with objects in a cluster, which is in memory.
type fixture struct {
	*Stacks
	client.Client
	cached *countingReader
}

func newFixture(t *testing.T, objects ...client.Object) *fixture {
	t.Helper()
	scheme, err := testutil.NewScheme()
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{Client: fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build()}
	f.cached = &countingReader{Uncached: testutil.NewUncached(f.Client)}
	apis, err := caches.NewAPIs(t.Context(), f.cached, f.RESTMapper(), nil)
	if err != nil {
		t.Fatal(err)
	}
	config := resolve.NewOperatorConfig(f.cached, names.OperatorNamespace)
	known := hosts.New(f.cached, apis, config, false)
	if err := known.Index(f.cached).Start(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	f.Stacks = New(f.cached, config, known, NewReferences(), events.NewFakeRecorder(100))
	return f
}

// countingReader counts the lists that are read.
type countingReader struct {
	testutil.Uncached
	lists int
}

func (c *countingReader) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	c.lists++
	return c.Uncached.List(ctx, list, options...)
}

// requeued returns the stacks that a handler requeues, including those in the groups that it requeues, as sorted
// "namespace/name" strings.
func (f *fixture) requeued(
	t *testing.T, handle func(workqueue.TypedRateLimitingInterface[reconcile.Request]),
) []string {
	t.Helper()
	var stacks []string
	f.add = func(request reconcile.Request) { stacks = append(stacks, request.String()) }
	for _, request := range added(handle) {
		if isGroup, err := f.RequeueGroup(t.Context(), request); err != nil {
			t.Fatal(err)
		} else if !isGroup {
			f.add(request)
		}
	}
	slices.Sort(stacks)
	return stacks
}

// added returns the requests that a handler adds to the queue.
func added(handle func(workqueue.TypedRateLimitingInterface[reconcile.Request])) []reconcile.Request {
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	defer queue.ShutDown()
	handle(queue)
	var found []reconcile.Request
	for queue.Len() > 0 {
		request, _ := queue.Get()
		found = append(found, request)
		queue.Done(request)
	}
	return found
}

// newStackNamed returns a stack with the namespace and name in `key`. If `reason` is not empty, the condition to which
// the reason belongs, ConfigGenerated or ValidationSucceeded, is False.
func newStackNamed(t *testing.T, key, spec, reason string) *v1alpha2.LlamaStackDistribution {
	t.Helper()
	own := testutil.NewStack(t, spec)
	own.Namespace, own.Name, _ = strings.Cut(key, "/")
	own.UID = types.UID(key)
	if reason == "" {
		return own
	}
	condition := v1alpha2.ConditionConfigGenerated
	if reason == v1alpha2.ReasonUnknownDistribution || reason == v1alpha2.ReasonForbiddenByBounds {
		condition = v1alpha2.ConditionValidationSucceeded
	}
	meta.SetStatusCondition(&own.Status.Conditions, metav1.Condition{
		Type: condition, Status: metav1.ConditionFalse, Reason: reason,
	})
	return own
}

// TestRequeueByOperatorConfig checks that a change to the operator's ConfigMap requeues the stacks that it affects, and
// no others.
func TestRequeueByOperatorConfig(t *testing.T) {
	const starter = `{distribution: {name: starter}}`
	f := newFixture(t,
		testutil.NewOperatorConfigMap("", ""),
		newStackNamed(t, "team/plain", starter, ""),
		newStackNamed(t, "team/demo", `{distribution: {name: postgres-demo}}`, ""),
		newStackNamed(t, "team/exposed", `{distribution: {name: starter}, networking: {expose: true}}`, ""),
		newStackNamed(t, "team/unread", starter, v1alpha2.ReasonBaseConfigUnavailable),
		newStackNamed(t, "team/needs-base", starter, v1alpha2.ReasonBaseConfigRequired),
		newStackNamed(t, "team/unknown", `{distribution: {name: rh-dev}}`, v1alpha2.ReasonUnknownDistribution),
		newStackNamed(t, "theirs/plain", starter, ""),
	)
	all := []string{
		"team/demo", "team/exposed", "team/needs-base", "team/plain", "team/unknown", "team/unread", "theirs/plain",
	}
	for name, tc := range map[string]struct {
		key, before, after string
		want               []string
	}{
		"comment":            {operatorconfig.KeyIngress, "{domain: a.example.com}", "{domain: a.example.com} # a comment", nil},
		"image added":        {operatorconfig.KeyImageOverrides, "", "postgres-demo: example.com/demo:1", []string{"team/demo", "team/unknown"}},
		"image of a version": {operatorconfig.KeyImageOverrides, "", `postgres-demo@0.7: example.com/demo:1`, []string{"team/demo", "team/unknown"}},
		"image removed":      {operatorconfig.KeyImageOverrides, "postgres-demo: example.com/demo:1", "", []string{"team/demo", "team/unknown"}},
		"images now valid":   {operatorconfig.KeyImageOverrides, "starter: Not An Image", "", all},
		"registries":         {operatorconfig.KeyRegistries, "", "readLabels: false", []string{"team/needs-base", "team/unknown", "team/unread"}},
		"features":           {operatorconfig.KeyFeatureFlags, "", "enableNetworkPolicy: {enabled: true}", all},
		"ingress":            {operatorconfig.KeyIngress, "", "{domain: a.example.com}", []string{"team/exposed", "team/unknown"}},
		"ingress now valid":  {operatorconfig.KeyIngress, "domain: [a]", "", []string{"team/exposed", "team/unknown"}},
		"gateway":            {operatorconfig.KeyGateway, "", "{name: public, namespace: gateways}", []string{"team/exposed", "team/unknown"}},
		"gateway now valid":  {operatorconfig.KeyGateway, "name: [a]", "", []string{"team/exposed", "team/unknown"}},
		"bounds":             {operatorconfig.KeyBounds, "", "[{namespaces: [theirs], stacks: 1}]", []string{"team/unknown", "theirs/plain"}},
		"bounds now valid":   {operatorconfig.KeyBounds, "[{stacks: many}]", "", all},
	} {
		t.Run(name, func(t *testing.T) {
			f.settings = resolve.NewOperatorConfig(f.cached, names.OperatorNamespace)
			handler := f.byOperatorConfig()
			config, changed := testutil.NewOperatorConfigMap(tc.key, tc.before), testutil.NewOperatorConfigMap(tc.key, tc.after)
			if err := f.Update(t.Context(), config); err != nil {
				t.Fatal(err)
			}
			f.requeued(t, func(queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
				handler.Create(t.Context(), ctrlevent.CreateEvent{Object: config}, queue)
			})
			if err := f.Update(t.Context(), changed); err != nil {
				t.Fatal(err)
			}
			got := f.requeued(t, func(queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
				handler.Update(t.Context(), ctrlevent.UpdateEvent{ObjectOld: config, ObjectNew: changed}, queue)
			})
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("requeued (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRequeueByHostname checks that a stack is requeued when another stack starts or stops requesting its host name,
// regardless of whether the domain of the host name is in the spec or in the operator's ConfigMap.
func TestRequeueByHostname(t *testing.T) {
	const domain = "apps.example.com"
	exposed := func(key, expose string) *v1alpha2.LlamaStackDistribution {
		return newStackNamed(t, key, `{distribution: {name: starter}, networking: {expose: `+expose+`}}`, "")
	}
	generated := exposed("team/a", "true")
	named := exposed("team/named", "{hostname: shared."+domain+"}")
	moved := named.DeepCopy()
	moved.Generation = 2
	moved.Spec.Networking = nil
	elsewhere := exposed("theirs/same", "{hostname: shared."+domain+"}")
	f := newFixture(t, generated, named, elsewhere, exposed("team/another", "{hostname: another.example.com}"),
		testutil.NewOperatorConfigMap(operatorconfig.KeyIngress, "{domain: "+domain+"}"))
	handler := f.byHostname()
	all := []string{"team/named", "theirs/same"}
	type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	for name, tc := range map[string]struct {
		handle func(queue)
		want   []string
	}{
		"the stack with the generated host name is deleted": {
			func(q queue) { handler.Delete(t.Context(), ctrlevent.DeleteEvent{Object: generated}, q) },
			[]string{"team/a"},
		},
		"the stack with the host name is deleted": {
			func(q queue) { handler.Delete(t.Context(), ctrlevent.DeleteEvent{Object: named}, q) },
			all,
		},
		"a stack is created": {
			func(q queue) { handler.Create(t.Context(), ctrlevent.CreateEvent{Object: named}, q) },
			all,
		},
		"the spec changes": {
			func(q queue) {
				handler.Update(t.Context(), ctrlevent.UpdateEvent{ObjectOld: named, ObjectNew: moved}, q)
			},
			all,
		},
		"the status changes": {
			func(q queue) {
				handler.Update(t.Context(), ctrlevent.UpdateEvent{ObjectOld: named, ObjectNew: named}, q)
			},
			nil,
		},
		"a stack without a host name is deleted": {
			func(q queue) { handler.Delete(t.Context(), ctrlevent.DeleteEvent{Object: moved}, q) }, nil,
		},
	} {
		if diff := cmp.Diff(tc.want, f.requeued(t, tc.handle)); diff != "" {
			t.Errorf("%s: requeued (-want +got):\n%s", name, diff)
		}
	}
}

// TestRequeueByReference checks that a change to a ConfigMap requeues the stacks that refer to it, including stacks in
// another namespace.
func TestRequeueByReference(t *testing.T) {
	f := newFixture(t)
	own := testutil.NewStack(t, `{distribution: {name: starter}, overrideConfig: {configMapName: mine}}`)
	f.references.Set(client.ObjectKeyFromObject(own), nil, []intent.ConfigMapUse{{Namespace: "shared", Name: "mine"}})
	handler := f.byReference(kindConfigMap)
	for namespace, want := range map[string][]string{"shared": {"team/my"}, "theirs": nil} {
		config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "mine"}}
		got := f.requeued(t, func(queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			handler.Update(t.Context(), ctrlevent.UpdateEvent{ObjectOld: config, ObjectNew: config}, queue)
		})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("requeued by a ConfigMap of namespace %s (-want +got):\n%s", namespace, diff)
		}
	}
}
