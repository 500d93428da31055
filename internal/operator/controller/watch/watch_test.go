package watch

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

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
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/hostname"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/operatorconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/caches"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// stack is a stack in the cluster of a test.
type stack = v1alpha2.LlamaStackDistribution

// fixture is a Stacks with objects in a cluster, which is in memory.
type fixture struct {
	*Stacks
	client.Client
	cached *countingReader
}

func newFixture(t *testing.T, objects ...client.Object) *fixture {
	t.Helper()
	scheme, err := testutil.NewScheme()
	testutil.Must(t, err)
	f := &fixture{Client: fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build()}
	f.cached = &countingReader{Uncached: testutil.NewUncached(f.Client)}
	apis, err := caches.NewAPIs(t.Context(), f.cached, f.RESTMapper(), nil)
	testutil.Must(t, err)
	config := resolve.NewOperatorConfig(f.cached, names.OperatorNamespace)
	f.Stacks = New(f.cached, apis, config, events.NewFakeRecorder(100), false)
	testutil.Must(t, f.Hosts.Index(f.cached).Start(t.Context(), nil))
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

// requests is the queue of a controller.
type requests = workqueue.TypedRateLimitingInterface[reconcile.Request]

// event sends an event to a handler.
type event func(context.Context, handler.EventHandler, requests)

func created(object client.Object) event {
	return func(ctx context.Context, h handler.EventHandler, q requests) {
		h.Create(ctx, ctrlevent.CreateEvent{Object: object}, q)
	}
}

func changed(before, now client.Object) event {
	return func(ctx context.Context, h handler.EventHandler, q requests) {
		h.Update(ctx, ctrlevent.UpdateEvent{ObjectOld: before, ObjectNew: now}, q)
	}
}

func deleted(stacks ...*stack) event {
	return func(ctx context.Context, h handler.EventHandler, q requests) {
		for _, one := range stacks {
			h.Delete(ctx, ctrlevent.DeleteEvent{Object: one}, q)
		}
	}
}

// requeued returns the stacks that a handler requeues after an event, including those in the groups that it requeues,
// as sorted "namespace/name" strings.
func (f *fixture) requeued(t *testing.T, h handler.EventHandler, send event) []string {
	t.Helper()
	var stacks []string
	f.add = func(request reconcile.Request) { stacks = append(stacks, request.String()) }
	for _, request := range added(t, h, send) {
		if isGroup, err := f.RequeueGroup(t.Context(), request); err != nil {
			t.Fatal(err)
		} else if !isGroup {
			f.add(request)
		}
	}
	slices.Sort(stacks)
	return stacks
}

// added returns the requests that a handler adds to the queue after an event.
func added(t *testing.T, h handler.EventHandler, send event) []reconcile.Request {
	t.Helper()
	pending := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	defer pending.ShutDown()
	send(t.Context(), h, pending)
	var found []reconcile.Request
	for pending.Len() > 0 {
		request, _ := pending.Get()
		found = append(found, request)
		pending.Done(request)
	}
	return found
}

// newStackNamed returns a stack with the namespace and name in `key`. If `reason` is not empty, the condition to which
// the reason belongs, ConfigGenerated or ValidationSucceeded, is False.
func newStackNamed(t *testing.T, key, spec, reason string) *stack {
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
			config, edited := testutil.NewOperatorConfigMap(tc.key, tc.before), testutil.NewOperatorConfigMap(tc.key, tc.after)
			testutil.Must(t, f.Update(t.Context(), config))
			f.requeued(t, handler, created(config))
			testutil.Must(t, f.Update(t.Context(), edited))
			if diff := cmp.Diff(tc.want, f.requeued(t, handler, changed(config, edited))); diff != "" {
				t.Errorf("requeued (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRequeueByHostname checks that a stack is requeued when another stack starts or stops requesting its host name,
// regardless of whether the domain of the host name is in the spec or in the operator's ConfigMap.
func TestRequeueByHostname(t *testing.T) {
	const domain = "apps.example.com"
	exposed := func(key, expose string) *stack {
		return newStackNamed(t, key, `{distribution: {name: starter}, networking: {expose: `+expose+`}}`, "")
	}
	generated := exposed("team/a", "true")
	named := exposed("team/named", "{hostname: shared."+domain+"}")
	moved := named.DeepCopy() // in the same generation, as after a change of only an annotation in v1alpha1
	moved.Spec.Networking = nil
	elsewhere := exposed("theirs/same", "{hostname: shared."+domain+"}")
	f := newFixture(t, generated, named, elsewhere, exposed("team/another", "{hostname: another.example.com}"),
		testutil.NewOperatorConfigMap(operatorconfig.KeyIngress, "{domain: "+domain+"}"))
	all := []string{"team/named", "theirs/same"}
	for name, tc := range map[string]struct {
		send event
		want []string
	}{
		"the stack with the generated host name is deleted": {deleted(generated), []string{"team/a"}},
		"the stack with the host name is deleted":           {deleted(named), all},
		"a stack is created":                                {created(named), all},
		"the spec changes":                                  {changed(named, moved), all},
		"the status changes":                                {changed(named, named), nil},
		"a stack without a host name is deleted":            {deleted(moved), nil},
	} {
		if diff := cmp.Diff(tc.want, f.requeued(t, f.byHostname(), tc.send)); diff != "" {
			t.Errorf("%s: requeued (-want +got):\n%s", name, diff)
		}
	}
}

// TestRequeueByReference checks that a change to a ConfigMap requeues the stacks that refer to it, including stacks in
// another namespace.
func TestRequeueByReference(t *testing.T) {
	f := newFixture(t)
	own := testutil.NewStack(t, `{distribution: {name: starter}, overrideConfig: {configMapName: mine}}`)
	f.References.Set(client.ObjectKeyFromObject(own), nil, []intent.ConfigMapUse{{Namespace: "shared", Name: "mine"}})
	for namespace, want := range map[string][]string{"shared": {"team/my"}, "theirs": nil} {
		config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "mine"}}
		if diff := cmp.Diff(want, f.requeued(t, f.byReference(kindConfigMap), changed(config, config))); diff != "" {
			t.Errorf("requeued by a ConfigMap of namespace %s (-want +got):\n%s", namespace, diff)
		}
	}
}

// crowd is a number of stacks of one tenant that request the same host name, and refer to the same Secret.
const crowd = 300

func newCrowd(t *testing.T) []*stack {
	t.Helper()
	stacks := make([]*stack, 0, crowd)
	for i := range crowd {
		stacks = append(stacks, newStackNamed(t, fmt.Sprintf("loud/stack-%d", i), `{distribution: {name: starter}, `+
			`networking: {expose: {hostname: loud.example.com, annotations: {a: b}}}}`, v1alpha2.ReasonForbiddenByBounds))
	}
	return stacks
}

// TestHandlersDoNotSearch checks that one event results in at most one request and no search, however many stacks of
// the tenant it affects, because the events of other tenants wait for the handler.
func TestHandlersDoNotSearch(t *testing.T) {
	stacks := newCrowd(t)
	f := newFixture(t, testutil.NewOperatorConfigMap("", ""), stacks[0])
	for _, one := range stacks {
		f.References.Set(client.ObjectKeyFromObject(one), []intent.SecretUse{{Secret: "creds"}}, nil)
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "loud", Name: "creds"}}
	toggled := stacks[0].DeepCopy()
	toggled.Generation++
	exposed := stacks[0].DeepCopy()
	exposed.Status.RouteURL = "http://loud.example.com"
	leaving := toggled.DeepCopy()
	leaving.Generation, leaving.DeletionTimestamp = leaving.Generation+1, &metav1.Time{}
	hosts, group := f.byHostname(), []string{"loud/host names/loud.example.com"}
	for name, tc := range map[string]struct {
		handler handler.EventHandler
		send    event
		want    []string
	}{
		"a stack with a host name is created":       {hosts, created(stacks[0]), group},
		"another field changes":                     {hosts, changed(stacks[0], toggled), nil},
		"the stack is exposed":                      {hosts, changed(stacks[0], exposed), group},
		"the deletion starts":                       {hosts, changed(toggled, leaving), group},
		"all stacks with the host name are deleted": {hosts, deleted(stacks...), group},
		"all stacks of a namespace are deleted":     {byBounds(), deleted(stacks...), []string{"loud/bounds/"}},
		"a Secret changes":                          {f.byReference(kindSecret), changed(secret, secret), []string{"loud/Secret/creds"}},
	} {
		f.cached.lists = 0
		var got []string
		for _, request := range added(t, tc.handler, tc.send) {
			got = append(got, request.String())
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s: requests (-want +got):\n%s", name, diff)
		}
		if f.cached.lists > 0 {
			t.Errorf("%s: %d lists were read", name, f.cached.lists)
		}
	}
}

// TestNamesOfGroups checks that an owner reference or an event with the name of a group requests nothing, because users
// write both.
func TestNamesOfGroups(t *testing.T) {
	owner := metav1.OwnerReference{
		APIVersion: v1alpha2.GroupVersion.String(), Kind: v1alpha2.Kind, Name: "host names/a.example.com,no host",
		Controller: new(true),
	}
	child := &corev1.Service{}
	child.Namespace, child.OwnerReferences = "a", []metav1.OwnerReference{owner}
	about := corev1.ObjectReference{Namespace: "a", Name: "bounds/-pvc"}
	warning := &corev1.Event{Type: corev1.EventTypeWarning, InvolvedObject: about}
	got := append(added(t, byController(), created(child)), added(t, byClaim(), created(warning))...)
	if len(got) > 0 {
		t.Errorf("requests %v", got)
	}
}

// TestStacksThatKnowTheOwner checks that a stack is requeued only if its status does not show who owns its host name.
func TestStacksThatKnowTheOwner(t *testing.T) {
	const host = "loud.example.com"
	owner := &hostname.Owner{Host: host, Namespace: "loud", Name: "owner"}
	stackOf := func(key string, age int64, change func(*stack)) *stack {
		one := newStackNamed(t, key, `{distribution: {name: starter}, networking: {expose: {hostname: `+host+`}}}`, "")
		one.CreationTimestamp = metav1.Unix(1e9-age, 0)
		change(one)
		return one
	}
	waits := func(by *hostname.Owner) func(*stack) {
		return func(s *stack) {
			meta.SetStatusCondition(&s.Status.Conditions, metav1.Condition{
				Type: v1alpha2.ConditionExposed, Status: metav1.ConditionFalse, Reason: v1alpha2.ReasonHostnameTaken,
				Message: by.Message(s),
			})
		}
	}
	exposed := func(s *stack) { s.Status.RouteURL = "http://" + host }
	unknown := func(*stack) {}
	leaving := func(s *stack) {
		exposed(s)
		s.DeletionTimestamp, s.Finalizers = &metav1.Time{Time: time.Unix(1e9, 0)}, []string{"a/b"}
	}
	for name, tc := range map[string]struct {
		stacks []*stack
		want   []string
	}{
		"an owner, and stacks that wait for it": {
			[]*stack{
				stackOf("loud/owner", 1, exposed), stackOf("loud/a", 2, waits(owner)), stackOf("calm/b", 3, waits(owner)),
			}, nil,
		},
		"a new stack": {
			[]*stack{stackOf("loud/owner", 1, exposed), stackOf("loud/new", 0, unknown)}, []string{"loud/new"},
		},
		"two exposed stacks": {
			[]*stack{stackOf("loud/owner", 2, exposed), stackOf("calm/b", 1, exposed)}, []string{"calm/b"},
		},
		"a deleted owner": {
			[]*stack{stackOf("loud/owner", 3, leaving), stackOf("loud/a", 2, waits(owner)), stackOf("loud/b", 1, waits(owner))},
			nil, // it serves the host name until it is gone
		},
		"no owner": {[]*stack{stackOf("loud/a", 2, waits(owner)), stackOf("calm/b", 1, waits(owner))}, []string{"loud/a"}},
	} {
		objects := []client.Object{testutil.NewOperatorConfigMap("", "")}
		for _, one := range tc.stacks {
			objects = append(objects, one)
		}
		f := newFixture(t, objects...)
		if diff := cmp.Diff(tc.want, f.requeued(t, f.byHostname(), created(tc.stacks[0]))); diff != "" {
			t.Errorf("%s: requeued (-want +got):\n%s", name, diff)
		}
	}
}

func TestReferenceIndex(t *testing.T) {
	name := func(n string) types.NamespacedName { return types.NamespacedName{Namespace: "ns", Name: n} }
	index := newReferences()
	index.Set(name("a"), []intent.SecretUse{{Secret: "s"}, {Secret: "s"}}, []intent.ConfigMapUse{{Name: "c"}})
	index.Set(name("b"), []intent.SecretUse{{Secret: "s"}}, nil)
	users := func(kind, of string) []string {
		var found []string
		for _, user := range index.Requests(kind, name(of)) {
			found = append(found, user.Name)
		}
		slices.Sort(found)
		return found
	}
	expect := func(kind, of string, want ...string) {
		t.Helper()
		if got := users(kind, of); !slices.Equal(got, want) {
			t.Errorf("users of %s %s: %v, want %v", kind, of, got, want)
		}
	}
	expect(kindSecret, "s", "a", "b")
	expect(kindConfigMap, "c", "a")
	expect(kindConfigMap, "s")
	index.Set(name("a"), []intent.SecretUse{{Secret: "other"}}, nil)
	expect(kindSecret, "s", "b")
	expect(kindSecret, "other", "a")
	expect(kindConfigMap, "c")
	index.Forget(name("a"))
	index.Forget(name("b"))
	if len(index.users)+len(index.stacks) != 0 {
		t.Errorf("entries of forgotten stacks: %v, %v", index.users, index.stacks)
	}
}

// TestKeptReferences checks the memory for the names of the objects to which stacks with long specs refer. The specs
// themselves are not in memory.
func TestKeptReferences(t *testing.T) {
	const stacks = 1000
	long := strings.Repeat("a", 240)
	index := newReferences()
	before := testutil.Heap()
	for n := range stacks {
		uses := make([]intent.SecretUse, 0, 256)
		for i := range 256 {
			uses = append(uses, intent.SecretUse{Secret: fmt.Sprintf("%s-%d-%d", long, n, i)})
		}
		index.Set(types.NamespacedName{Namespace: "ns", Name: fmt.Sprint(n)}, uses, nil)
	}
	if after := testutil.Heap(); after > before+48<<20 {
		t.Errorf("%d KiB are kept", (after-before)>>10)
	}
	last := types.NamespacedName{Namespace: "ns", Name: fmt.Sprint(stacks - 1)}
	secret := types.NamespacedName{Namespace: "ns", Name: fmt.Sprintf("%s-%d-7", long, stacks-1)}
	if !index.used(kindSecret, secret) || index.used(kindConfigMap, secret) {
		t.Error("the Secret of a stack is not found, or found as a ConfigMap")
	}
	if index.Forget(last); index.used(kindSecret, secret) {
		t.Error("the Secret of a forgotten stack is found")
	}
	runtime.KeepAlive(index)
}
