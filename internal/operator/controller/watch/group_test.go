package watch

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlevent "sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/hostname"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// crowd is a number of stacks of one tenant that request the same host name, and refer to the same Secret.
const crowd = 300

func newCrowd(t *testing.T) []*v1alpha2.LlamaStackDistribution {
	t.Helper()
	stacks := make([]*v1alpha2.LlamaStackDistribution, 0, crowd)
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
		f.references.Set(client.ObjectKeyFromObject(one), []intent.SecretUse{{Secret: "creds"}}, nil)
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "loud", Name: "creds"}}
	toggled := stacks[0].DeepCopy()
	toggled.Generation++
	exposed := stacks[0].DeepCopy()
	exposed.Status.RouteURL = "http://loud.example.com"
	leaving := toggled.DeepCopy()
	leaving.Generation, leaving.DeletionTimestamp = leaving.Generation+1, &metav1.Time{}
	ctx := t.Context()
	type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	for name, tc := range map[string]struct {
		handler handler.EventHandler
		send    func(handler.EventHandler, queue)
		want    []string
	}{
		"a stack with a host name is created": {
			f.byHostname(), func(h handler.EventHandler, q queue) { h.Create(ctx, ctrlevent.CreateEvent{Object: stacks[0]}, q) },
			[]string{"loud/host names/loud.example.com"},
		},
		"another field changes": {
			f.byHostname(), func(h handler.EventHandler, q queue) {
				h.Update(ctx, ctrlevent.UpdateEvent{ObjectOld: stacks[0], ObjectNew: toggled}, q)
			}, nil,
		},
		"the stack is exposed": {
			f.byHostname(), func(h handler.EventHandler, q queue) {
				h.Update(ctx, ctrlevent.UpdateEvent{ObjectOld: stacks[0], ObjectNew: exposed}, q)
			}, []string{"loud/host names/loud.example.com"},
		},
		"the deletion starts": {
			f.byHostname(), func(h handler.EventHandler, q queue) {
				h.Update(ctx, ctrlevent.UpdateEvent{ObjectOld: toggled, ObjectNew: leaving}, q)
			}, []string{"loud/host names/loud.example.com"},
		},
		"all stacks with the host name are deleted": {
			f.byHostname(), func(h handler.EventHandler, q queue) {
				for _, one := range stacks {
					h.Delete(ctx, ctrlevent.DeleteEvent{Object: one}, q)
				}
			}, []string{"loud/host names/loud.example.com"},
		},
		"all stacks of a namespace are deleted": {
			byBounds(), func(h handler.EventHandler, q queue) {
				for _, one := range stacks {
					h.Delete(ctx, ctrlevent.DeleteEvent{Object: one}, q)
				}
			}, []string{"loud/bounds/"},
		},
		"a Secret changes": {
			f.byReference(kindSecret), func(h handler.EventHandler, q queue) {
				h.Update(ctx, ctrlevent.UpdateEvent{ObjectOld: secret, ObjectNew: secret}, q)
			}, []string{"loud/Secret/creds"},
		},
	} {
		f.cached.lists = 0
		var got []string
		for _, request := range added(func(q queue) { tc.send(tc.handler, q) }) {
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
	event := &corev1.Event{Type: corev1.EventTypeWarning, InvolvedObject: about}
	got := added(func(q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
		byController().Create(t.Context(), ctrlevent.CreateEvent{Object: child}, q)
		byClaim().Create(t.Context(), ctrlevent.CreateEvent{Object: event}, q)
	})
	if len(got) > 0 {
		t.Errorf("requests %v", got)
	}
}

// TestStacksThatKnowTheOwner checks that a stack is requeued only if its status does not show who owns its host name.
func TestStacksThatKnowTheOwner(t *testing.T) {
	const host = "loud.example.com"
	owner := &hostname.Owner{Host: host, Namespace: "loud", Name: "owner"}
	stackOf := func(key string, age int64, change func(*v1alpha2.LlamaStackDistribution)) *v1alpha2.LlamaStackDistribution {
		one := newStackNamed(t, key, `{distribution: {name: starter}, networking: {expose: {hostname: `+host+`}}}`, "")
		one.CreationTimestamp = metav1.Unix(1e9-age, 0)
		change(one)
		return one
	}
	waits := func(by *hostname.Owner) func(*v1alpha2.LlamaStackDistribution) {
		return func(s *v1alpha2.LlamaStackDistribution) {
			meta.SetStatusCondition(&s.Status.Conditions, metav1.Condition{
				Type: v1alpha2.ConditionExposed, Status: metav1.ConditionFalse, Reason: v1alpha2.ReasonHostnameTaken,
				Message: by.Message(s),
			})
		}
	}
	exposed := func(s *v1alpha2.LlamaStackDistribution) { s.Status.RouteURL = "http://" + host }
	unknown := func(*v1alpha2.LlamaStackDistribution) {}
	deleted := func(s *v1alpha2.LlamaStackDistribution) {
		exposed(s)
		s.DeletionTimestamp, s.Finalizers = &metav1.Time{Time: time.Unix(1e9, 0)}, []string{"a/b"}
	}
	for name, tc := range map[string]struct {
		stacks []*v1alpha2.LlamaStackDistribution
		want   []string
	}{
		"an owner, and stacks that wait for it": {
			[]*v1alpha2.LlamaStackDistribution{
				stackOf("loud/owner", 1, exposed), stackOf("loud/a", 2, waits(owner)), stackOf("calm/b", 3, waits(owner)),
			}, nil,
		},
		"a new stack": {
			[]*v1alpha2.LlamaStackDistribution{stackOf("loud/owner", 1, exposed), stackOf("loud/new", 0, unknown)}, []string{"loud/new"},
		},
		"two exposed stacks": {
			[]*v1alpha2.LlamaStackDistribution{stackOf("loud/owner", 2, exposed), stackOf("calm/b", 1, exposed)}, []string{"calm/b"},
		},
		"a deleted owner": {
			[]*v1alpha2.LlamaStackDistribution{stackOf("loud/owner", 3, deleted), stackOf("loud/a", 2, waits(owner)), stackOf("loud/b", 1, waits(owner))},
			nil, // it serves the host name until it is gone
		},
		"no owner": {
			[]*v1alpha2.LlamaStackDistribution{stackOf("loud/a", 2, waits(owner)), stackOf("calm/b", 1, waits(owner))}, []string{"loud/a"},
		},
	} {
		objects := []client.Object{testutil.NewOperatorConfigMap("", "")}
		for _, one := range tc.stacks {
			objects = append(objects, one)
		}
		f := newFixture(t, objects...)
		handler := f.byHostname()
		got := f.requeued(t, func(q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			handler.Create(t.Context(), ctrlevent.CreateEvent{Object: tc.stacks[0]}, q)
		})
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s: requeued (-want +got):\n%s", name, diff)
		}
	}
}

func TestReferenceIndex(t *testing.T) {
	name := func(n string) types.NamespacedName { return types.NamespacedName{Namespace: "ns", Name: n} }
	index := NewReferences()
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
