package apply_test

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/apply"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// TestLookupOfNewChildren checks that the lookup of a new child causes at most one read, and no read if the cache
// contains the objects of all owners.
func TestLookupOfNewChildren(t *testing.T) {
	b := newBench(t)
	reads := b.countReads()
	b.apply(t, b.all(t)...)
	want := map[string]int{
		"metadata of deployments/my?resourceVersion=0": 1, "metadata of services/my-service?resourceVersion=0": 1,
		"metadata of persistentvolumeclaims/my-pvc?resourceVersion=0": 1,
	}
	if diff := cmp.Diff(want, reads()); diff != "" {
		t.Errorf("reads (-want +got):\n%s", diff)
	}
}

// TestLookupOfExistingChildren checks that the Applier uses the API server's cache, which may be outdated, only to
// determine that an object does not exist, and that it does not read an object of another owner whole.
func TestLookupOfExistingChildren(t *testing.T) {
	b := newBench(t)
	foreign := b.child(t, serviceText)
	foreign.SetOwnerReferences(nil)
	foreign.SetLabels(nil)
	testutil.Must(t, b.client.Create(t.Context(), foreign))
	b.applier = b.newApplier(t, b.client.Scheme(), behind{b.client})
	reads := b.countReads()
	_, err := b.applier.CheckOwnership(t.Context(), b.owner, []*unstructured.Unstructured{b.child(t, serviceText)})
	if _, conflict := errors.AsType[*apply.OwnershipConflict](err); !conflict {
		t.Errorf("CheckOwnership: error %v, want an *OwnershipConflict", err)
	}
	want := map[string]int{"metadata of services/my-service?resourceVersion=0": 1, "metadata of services/my-service?": 1}
	if diff := cmp.Diff(want, reads()); diff != "" {
		t.Errorf("reads (-want +got):\n%s", diff)
	}
}

// TestLookupOfAServiceAccount checks that the Applier reads an unknown ServiceAccount only if another child exists. The
// creation of an existing one fails, and the next lookup reads it. Another owner's ServiceAccount never changes.
func TestLookupOfAServiceAccount(t *testing.T) {
	b := newBench(t)
	account := b.child(t, "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: my-sa}\n")
	foreign := account.DeepCopy()
	foreign.SetOwnerReferences(nil)
	foreign.SetLabels(nil)
	testutil.Must(t, b.client.Create(t.Context(), foreign))
	refused := func(what string, wanted ...*unstructured.Unstructured) {
		t.Helper()
		_, err := b.applier.CheckOwnership(t.Context(), b.owner, wanted)
		if _, conflict := errors.AsType[*apply.OwnershipConflict](err); !conflict {
			t.Errorf("%s: error %v, want an *OwnershipConflict", what, err)
		}
	}
	b.applier = b.newApplier(t, b.client.Scheme(), behind{b.client})
	reads := b.countReads()
	found, err := b.applier.CheckOwnership(t.Context(), b.owner, []*unstructured.Unstructured{account})
	if err != nil || len(reads()) > 0 {
		t.Errorf("a new owner: reads %v, error %v", reads(), err)
	}
	if _, err := b.applier.Set(t.Context(), b.owner, found); !apierrors.IsConflict(err) {
		t.Errorf("creation: error %v, want a conflict", err)
	}
	refused("after the creation", account)

	b.applier = b.newApplier(t, b.client.Scheme(), behind{b.client})
	b.apply(t, b.child(t, serviceText))
	b.applier = b.newApplier(t, b.client.Scheme(), behind{b.client})
	refused("with another child", b.child(t, serviceText), account)
	if now := b.get(t, account.GroupVersionKind(), "my-sa"); len(now.GetLabels()) > 0 {
		t.Errorf("the labels are %v", now.GetLabels())
	}
}

// countReads counts subsequent reads of children, separately for each resource and version.
func (b *bench) countReads() func() map[string]int {
	var mu sync.Mutex
	reads := map[string]int{}
	b.counter.seen = func(request *http.Request) {
		_, object, inside := strings.Cut(request.URL.Path, "/namespaces/"+b.owner.Namespace+"/") // not discovery
		if request.Method == http.MethodGet && inside {
			mu.Lock()
			defer mu.Unlock()
			read := object + "?" + request.URL.RawQuery
			if strings.Contains(request.Header.Get("Accept"), "as=PartialObjectMetadata") {
				read = "metadata of " + read
			}
			reads[read]++
		}
	}
	return func() map[string]int {
		mu.Lock()
		defer mu.Unlock()
		return maps.Clone(reads)
	}
}

// TestLookupIsConcurrent checks that children are read concurrently: each read waits for all others.
func TestLookupIsConcurrent(t *testing.T) {
	b := newBench(t)
	wanted := b.all(t)
	b.apply(t, wanted...) // causes the discovery of the kinds
	for _, object := range wanted {
		object.SetName("another")
	}
	const parties = 3 // the Deployment, the Service and the claim
	var arrived sync.WaitGroup
	arrived.Add(parties)
	b.counter.seen = func(request *http.Request) {
		if request.Method == http.MethodGet && strings.Contains(request.URL.Path, "/namespaces/") {
			arrived.Done()
			arrived.Wait()
		}
	}
	if _, err := b.applier.CheckOwnership(t.Context(), b.owner, wanted); err != nil {
		t.Error(err)
	}
}

// TestSetOfANewlyTakenName checks that Set does not change an object that another client creates between the lookup and
// the write, whether or not the lookup used the cache.
func TestSetOfANewlyTakenName(t *testing.T) {
	for kind, text := range map[schema.GroupVersionKind]string{
		configMaps: configText, claims: claimText, deployments: deploymentText, services: serviceText,
	} {
		t.Run(kind.Kind, func(t *testing.T) {
			b := newBench(t)
			found, err := b.applier.CheckOwnership(t.Context(), b.owner, []*unstructured.Unstructured{b.child(t, text)})
			testutil.Must(t, err)
			foreign := b.child(t, text) // the same fields: an apply would cause no conflict
			foreign.SetOwnerReferences(nil)
			testutil.Must(t, b.client.Create(t.Context(), foreign))
			before := b.get(t, kind, foreign.GetName())
			if _, err := b.applier.Set(t.Context(), b.owner, found); !apierrors.IsConflict(err) {
				t.Errorf("Set: %v, want a conflict", err)
			}
			if diff := cmp.Diff(before, b.get(t, kind, foreign.GetName())); diff != "" {
				t.Errorf("another owner's object changed:\n%s", diff)
			}
		})
	}
}

// TestSetWithoutLookup checks that Set fails with a conflict if another client has just created an object that has the
// same name and is not in the cache yet. The next CheckOwnership then reports that the name is taken.
func TestSetWithoutLookup(t *testing.T) {
	b := newBench(t)
	foreign := b.child(t, configText)
	foreign.SetOwnerReferences(nil)
	foreign.SetLabels(nil)
	testutil.Must(t, b.client.Create(t.Context(), foreign))
	b.applier = b.newApplier(t, b.client.Scheme(), behind{b.client})
	found, err := b.applier.CheckOwnership(t.Context(), b.owner, []*unstructured.Unstructured{b.child(t, configText)})
	testutil.Must(t, err)
	if _, err := b.applier.Set(t.Context(), b.owner, found); !apierrors.IsConflict(err) {
		t.Errorf("Set: %v, want a conflict", err)
	}
	if owners := b.get(t, configMaps, foreign.GetName()).GetOwnerReferences(); len(owners) != 0 {
		t.Errorf("another owner's object has the owners %v", owners)
	}
	b.counter.take()
	_, err = b.applier.CheckOwnership(t.Context(), b.owner, []*unstructured.Unstructured{b.child(t, configText)})
	if _, taken := errors.AsType[*apply.OwnershipConflict](err); !taken || b.counter.take() != 0 {
		t.Errorf("CheckOwnership after the conflict: %v, want *OwnershipConflict although the cache does not contain the object", err)
	}
}

// behind is an empty cache.
type behind struct{ client.Reader }

func (behind) Get(_ context.Context, key client.ObjectKey, _ client.Object, _ ...client.GetOption) error {
	return apierrors.NewNotFound(schema.GroupResource{}, key.Name)
}

// stale is an API server whose cache is empty, although its store has all objects.
type stale struct{ client.Client }

func (s stale) Get(ctx context.Context, key client.ObjectKey, object client.Object, given ...client.GetOption) error {
	var options client.GetOptions
	if options.ApplyOptions(given); options.Raw != nil && options.Raw.ResourceVersion == "0" {
		return apierrors.NewNotFound(schema.GroupResource{}, key.Name)
	}
	return s.Client.Get(ctx, key, object, given...)
}

// TestLookupWithAnOutdatedAPIServerCache checks that caches of the operator and of the API server without the Applier's
// last write do not cause another write.
func TestLookupWithAnOutdatedAPIServerCache(t *testing.T) {
	b := newBench(t)
	b.applier = apply.New(apply.Options{
		Writer: stale{b.client}, Cache: behind{b.client}, Scheme: b.client.Scheme(), Manager: manager,
		MetadataOnly: []schema.GroupVersionKind{configMaps},
	})
	b.apply(t, b.all(t)...)
	for _, outcome := range b.apply(t, b.all(t)...) {
		if outcome != apply.Unchanged {
			t.Errorf("%s, want unchanged", outcome)
		}
	}
}

// TestPanicDuringLookup checks that a panic during the lookup reaches the caller, which can handle it.
func TestPanicDuringLookup(t *testing.T) {
	b := newBench(t)
	b.applier = apply.New(apply.Options{
		Writer: defective{b.client}, Cache: b.client, Scheme: b.client.Scheme(), Manager: manager,
		MetadataOnly: []schema.GroupVersionKind{configMaps},
	})
	defer func() {
		if cause, ok := recover().(error); !ok || !strings.Contains(cause.Error(), "defective.Get") {
			t.Errorf("recovered %v, want the panic and its location", cause)
		}
	}()
	_, err := b.applier.CheckOwnership(t.Context(), b.owner, b.all(t))
	t.Errorf("CheckOwnership: %v, want a panic", err)
}

type defective struct{ client.Client }

func (defective) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	panic("a defect")
}

// TestAnswerWithoutContent checks that the API server's response to an apply contains only the metadata of an object if
// only metadata is cached for the object's kind. The response then contains no Secret values.
func TestAnswerWithoutContent(t *testing.T) {
	b := newBench(t)
	found, err := b.applier.CheckOwnership(t.Context(), b.owner,
		[]*unstructured.Unstructured{b.child(t, configText), b.child(t, serviceText)})
	testutil.Must(t, err)
	set, err := b.applier.Set(t.Context(), b.owner, found)
	testutil.Must(t, err)
	for i, kind := range []schema.GroupVersionKind{configMaps, services} {
		got, live := set[i].Object, b.get(t, kind, found[i].Wanted.GetName())
		if got.GetUID() != live.GetUID() || got.GetResourceVersion() != live.GetResourceVersion() ||
			got.GetObjectKind().GroupVersionKind() != kind {
			t.Errorf("%s: answer %v, want the metadata of %v", kind.Kind, got, live)
		}
		content, err := set[i].Content()
		testutil.Must(t, err)
		_, whole := content.Object["spec"]
		if kind == configMaps {
			_, whole = content.Object["data"]
		}
		if whole != (kind == services) {
			t.Errorf("%s: answer with content: %t, want %t: %v", kind.Kind, whole, kind == services, got)
		}
	}
}
