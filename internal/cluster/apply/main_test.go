package apply_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/apply"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

var plane *testutil.ControlPlane

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	var err error
	if plane, err = testutil.Start(testutil.Options{Bare: true}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() {
		if err := plane.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}()
	return m.Run()
}

var (
	configMaps  = corev1.SchemeGroupVersion.WithKind("ConfigMap")
	services    = corev1.SchemeGroupVersion.WithKind("Service")
	claims      = corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim")
	deployments = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
)

// bench holds the namespace, the owner, the Applier and the request counter of one test.
type bench struct {
	client  client.Client // has the permissions of an administrator; its requests are not counted
	owner   apply.Owner
	applier *apply.Applier
	counter *counter
}

type counter struct {
	next          http.RoundTripper
	writes, reads atomic.Int64
	// seen is called with every request. It can be nil.
	seen func(*http.Request)
}

func (c *counter) RoundTrip(request *http.Request) (*http.Response, error) {
	switch {
	case request.Method != http.MethodGet:
		c.writes.Add(1)
	case strings.Contains(request.URL.Path, "/namespaces/"): // all other requests are discovery
		c.reads.Add(1)
	}
	if c.seen != nil {
		c.seen(request)
	}
	return c.next.RoundTrip(request)
}

// take returns the number of writes since the last call.
func (c *counter) take() int64 { return c.writes.Swap(0) }

func newBench(t *testing.T) *bench {
	t.Helper()
	types, err := testutil.NewScheme()
	testutil.Must(t, err)
	admin, err := plane.Client()
	testutil.Must(t, err)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "apply-"}}
	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "my"}}
	testutil.Must(t, admin.Create(t.Context(), namespace))
	owner.Namespace = namespace.Name
	testutil.Must(t, admin.Create(t.Context(), owner))
	b := &bench{client: admin, counter: &counter{}, owner: apply.Owner{
		UID: owner.UID, Namespace: owner.Namespace, Name: owner.Name,
		Labels: map[string]string{"by": "tester", "of": "my"},
		Predecessors: []metav1.ManagedFieldsEntry{
			{Manager: "old", Operation: metav1.ManagedFieldsOperationUpdate},
			{Manager: "my", Operation: metav1.ManagedFieldsOperationApply},
		},
	}}
	b.applier = b.newApplier(t, types, nil)
	return b
}

// sharing transforms objects as the operator's caches do.
type sharing struct {
	client.Reader
	fields apply.SharedFields
}

func (s sharing) Get(
	ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption,
) error {
	if err := s.Reader.Get(ctx, key, object, options...); err != nil {
		return err
	}
	if _, plain := object.(runtime.Unstructured); plain {
		return nil
	}
	_, err := s.fields.Transform(object)
	return err
}

// newApplier returns an Applier without stored responses, as after a restart. If cache is nil, the Applier reads from
// the API server, and these reads are not counted.
func (b *bench) newApplier(t *testing.T, types *runtime.Scheme, cache client.Reader) *apply.Applier {
	t.Helper()
	config := rest.CopyConfig(plane.Config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		b.counter.next = next
		return b.counter
	})
	writer, err := client.New(config, client.Options{Scheme: types})
	testutil.Must(t, err)
	if cache == nil {
		cache = sharing{Reader: b.client, fields: apply.NewSharedFields()}
	}
	return apply.New(apply.Options{
		Writer: writer, Cache: cache, Scheme: types, Manager: manager,
		MetadataOnly: []schema.GroupVersionKind{configMaps},
	})
}

func (b *bench) restart(t *testing.T) {
	t.Helper()
	b.applier = b.newApplier(t, b.client.Scheme(), nil)
}

// child returns a wanted object with the owner and the labels of a child.
func (b *bench) child(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	child := object(t, text)
	child.SetNamespace(b.owner.Namespace)
	child.SetLabels(b.owner.Labels)
	child.SetOwnerReferences([]metav1.OwnerReference{{
		APIVersion: "v1", Kind: "ConfigMap", Name: b.owner.Name, UID: b.owner.UID, Controller: new(true),
		BlockOwnerDeletion: new(true),
	}})
	return child
}

// apply checks the ownership of the objects and applies them, and fails the test on an error.
func (b *bench) apply(t *testing.T, wanted ...*unstructured.Unstructured) []apply.Outcome {
	t.Helper()
	found, err := b.applier.CheckOwnership(t.Context(), b.owner, wanted)
	testutil.Must(t, err)
	applied, err := b.applier.Set(t.Context(), b.owner, found)
	testutil.Must(t, err)
	outcomes := make([]apply.Outcome, len(applied))
	for i := range applied {
		outcomes[i] = applied[i].Outcome
	}
	return outcomes
}

// applyAs applies an object in the owner's namespace as the named manager.
func (b *bench) applyAs(t *testing.T, manager string, object *unstructured.Unstructured) {
	t.Helper()
	object.SetNamespace(b.owner.Namespace)
	testutil.Must(t, b.client.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(object),
		client.FieldOwner(manager), client.ForceOwnership))
}

func (b *bench) get(t *testing.T, kind schema.GroupVersionKind, name string) *unstructured.Unstructured {
	t.Helper()
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(kind)
	testutil.Must(t, b.client.Get(t.Context(), client.ObjectKey{Namespace: b.owner.Namespace, Name: name}, live))
	return live
}
