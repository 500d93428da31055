package apply_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/apply"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/stub"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

const (
	deploymentText = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: my}
spec:
  replicas: 0
  selector: {matchLabels: {app: my}}
  strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 25%, maxUnavailable: 0}}
  template:
    metadata: {labels: {app: my}}
    spec:
      securityContext: {}
      containers:
      - name: server
        image: i
        resources: {requests: {cpu: "1", memory: 1Gi}}
        env:
        - {name: B, value: b}
        - {name: A, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
        - {name: EMPTY, value: ""}
        ports: [{containerPort: 80, protocol: TCP}]
        readinessProbe: {httpGet: {path: /, port: 80}, initialDelaySeconds: 0}
      volumes: [{name: v, emptyDir: {}}]
`
	serviceText = `
apiVersion: v1
kind: Service
metadata: {name: my-service}
spec: {selector: {app: my}, ports: [{name: http, port: 80, targetPort: 80, protocol: TCP}]}
`
	configText = `
apiVersion: v1
kind: ConfigMap
metadata: {name: my-config-1}
immutable: true
data: {config.yaml: one}
`
	claimText = `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: my-pvc}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
`
)

func (b *bench) all(t *testing.T) []*unstructured.Unstructured {
	t.Helper()
	var all []*unstructured.Unstructured
	for _, text := range []string{configText, claimText, deploymentText, serviceText} {
		all = append(all, b.child(t, text))
	}
	return all
}

func TestSetCreatesOnceAndThenWritesNothing(t *testing.T) {
	b := newBench(t)
	created := []apply.Outcome{apply.Created, apply.Created, apply.Created, apply.Created}
	if diff := cmp.Diff(created, b.apply(t, b.all(t)...)); diff != "" {
		t.Error(diff)
	}
	if writes := b.counter.take(); writes != 4 {
		t.Errorf("the creation caused %d writes, want one for each child", writes)
	}

	unchanged := []apply.Outcome{apply.Unchanged, apply.Unchanged, apply.Unchanged, apply.Unchanged}
	for _, step := range []string{"second time", "after a restart", "once more"} {
		if step == "after a restart" {
			b.restart(t)
		}
		b.counter.reads.Store(0)
		if diff := cmp.Diff(unchanged, b.apply(t, b.all(t)...)); diff != "" {
			t.Errorf("%s:\n%s", step, diff)
		}
		if writes := b.counter.take(); writes != 0 {
			t.Errorf("%s: %d writes", step, writes)
		}
		want := map[bool]int64{true: 1, false: 0}[step == "after a restart"] // one read, for the ConfigMap's content
		if reads := b.counter.reads.Load(); reads != want {
			t.Errorf("%s: %d reads from the API server, want %d", step, reads, want)
		}
	}
}

func TestSetDoesNotChangeItsArguments(t *testing.T) {
	b := newBench(t)
	wanted := b.child(t, serviceText)
	before := wanted.DeepCopy()
	b.apply(t, wanted)
	if diff := cmp.Diff(before, wanted); diff != "" {
		t.Errorf("Set changed its input:\n%s", diff)
	}
}

func TestSetRevertsDrift(t *testing.T) {
	b := newBench(t)
	b.apply(t, b.all(t)...)
	deployment := b.get(t, deployments, "my")
	for _, tc := range []struct {
		name  string
		patch string
		want  apply.Outcome
	}{
		{"image", `{"spec":{"template":{"spec":{"containers":[{"name":"server","image":"evil"}]}}}}`, apply.Configured},
		{"label of the owner", `{"metadata":{"labels":{"by":null}}}`, apply.Configured},
		{"annotation of another manager", `{"metadata":{"annotations":{"theirs":"x"}}}`, apply.Unchanged},
		{"injected container", `{"spec":{"template":{"spec":{"containers":[{"name":"sidecar","image":"s"}]}}}}`, apply.Unchanged},
	} {
		t.Run(tc.name, func(t *testing.T) {
			patch := client.RawPatch(types.StrategicMergePatchType, []byte(tc.patch))
			testutil.Must(t, b.client.Patch(t.Context(), deployment, patch))
			if got := b.apply(t, b.child(t, deploymentText)); got[0] != tc.want {
				t.Errorf("%s, want %s", got[0], tc.want)
			}
			if got := b.apply(t, b.child(t, deploymentText)); got[0] != apply.Unchanged {
				t.Errorf("after that %s, want unchanged", got[0])
			}
		})
	}
	containers, _, _ := unstructured.NestedSlice(b.get(t, deployments, "my").Object, "spec", "template", "spec",
		"containers")
	if len(containers) != 2 || b.get(t, deployments, "my").GetAnnotations()["theirs"] != "x" {
		t.Errorf("a container of another manager is missing: %v", containers)
	}
}

// checkOwnershipCases are the cases of TestCheckOwnership.
var checkOwnershipCases = []struct {
	name    string
	foreign func(b *bench, u *unstructured.Unstructured)
	want    apply.Outcome // empty means an error
	message string
}{
	{
		name:    "no controller, no labels",
		foreign: func(_ *bench, u *unstructured.Unstructured) { u.SetOwnerReferences(nil); u.SetLabels(nil) },
		message: `Service "my-service" in namespace "NS" exists and has neither a controller nor ` +
			`the labels of the stack; delete this Service, or create the stack with another name`,
	},
	{
		name: "no controller, one label",
		foreign: func(_ *bench, u *unstructured.Unstructured) {
			u.SetOwnerReferences(nil)
			u.SetLabels(map[string]string{"by": "tester"})
		},
		message: `Service "my-service" in namespace "NS" exists and has neither a controller nor ` +
			`the labels of the stack; delete this Service, or create the stack with another name`,
	},
	{
		name: "labels of this owner, another controller",
		foreign: func(_ *bench, u *unstructured.Unstructured) {
			u.SetOwnerReferences([]metav1.OwnerReference{{
				APIVersion: "v1", Kind: "Node", Name: "other", UID: "u",
				Controller: new(true),
			}})
		},
		message: `Service "my-service" in namespace "NS" exists and is controlled by Node "other"; ` +
			`delete this Service, or create the stack with another name`,
	},
	{
		name:    "labels of this owner, no controller",
		foreign: func(_ *bench, u *unstructured.Unstructured) { u.SetOwnerReferences(nil) },
		want:    apply.Adopted,
	},
	{
		name:    "controlled by this owner, no labels",
		foreign: func(_ *bench, u *unstructured.Unstructured) { u.SetLabels(nil) },
		want:    apply.Configured,
	},
}

func TestCheckOwnership(t *testing.T) {
	for _, tc := range checkOwnershipCases {
		t.Run(tc.name, func(t *testing.T) {
			b := newBench(t)
			foreign := b.child(t, serviceText)
			tc.foreign(b, foreign)
			testutil.Must(t, b.client.Create(t.Context(), foreign))
			found, err := b.applier.CheckOwnership(t.Context(), b.owner,
				[]*unstructured.Unstructured{b.child(t, configText), b.child(t, serviceText)})
			if tc.want == "" {
				var conflict *apply.OwnershipConflict
				if !errors.As(err, &conflict) {
					t.Fatalf("CheckOwnership: %v, want an ownership conflict", err)
				}
				conflict.Namespace = "NS"
				if diff := cmp.Diff(tc.message, conflict.Error()); diff != "" {
					t.Error(diff)
				}
				if writes := b.counter.take(); writes != 0 {
					t.Errorf("%d writes before the error", writes)
				}
				return
			}
			testutil.Must(t, err)
			applied, err := b.applier.Set(t.Context(), b.owner, found)
			testutil.Must(t, err)
			if applied[1].Outcome != tc.want {
				t.Errorf("%s, want %s", applied[1].Outcome, tc.want)
			}
			if !metav1.IsControlledBy(b.get(t, services, "my-service"), &metav1.ObjectMeta{UID: b.owner.UID}) {
				t.Error("the owner does not control the Service")
			}
		})
	}
}

func TestCheckOwnershipOfAnImmutableName(t *testing.T) {
	for name, change := range map[string]func(*unstructured.Unstructured){
		"different data": func(u *unstructured.Unstructured) { u.Object["data"] = map[string]any{"config.yaml": "two"} },
		"no controller and no labels": func(u *unstructured.Unstructured) {
			u.SetOwnerReferences(nil)
			u.SetLabels(nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			taken := b.child(t, configText)
			change(taken)
			testutil.Must(t, b.client.Create(t.Context(), taken))
			_, err := b.applier.CheckOwnership(t.Context(), b.owner, []*unstructured.Unstructured{b.child(t, configText)})
			if taken, ok := errors.AsType[*apply.OwnershipConflict](err); !ok || taken.Name != "my-config-1" ||
				taken.Differs != (name == "different data") {
				t.Errorf("CheckOwnership: %v, want a conflict over the name my-config-1", err)
			}
		})
	}
}

// TestMigrateFieldOwnership checks the takeover from an older program. The program created objects, and applied them
// with the owner's name as the field manager. The managed fields record the creation as the operation Update. Fields
// that the Applier leaves out are removed, and fields of other managers are kept.
func TestMigrateFieldOwnership(t *testing.T) {
	b := newBench(t)
	before := b.child(t, deploymentText)
	before.SetAnnotations(map[string]string{"stale-by-update": "x"})
	testutil.Must(t, b.client.Create(t.Context(), before, client.FieldOwner("old")))
	stale := object(t, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: my, annotations: {stale-by-apply: x}}}`)
	b.applyAs(t, "my", stale)
	patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"theirs":"x"}}}`))
	testutil.Must(t, b.client.Patch(t.Context(), b.get(t, deployments, "my"), patch, client.FieldOwner("somebody")))

	b.apply(t, b.child(t, deploymentText))
	if writes := b.counter.take(); writes != 2 {
		t.Errorf("%d writes, want one for the managed fields and one for the object", writes)
	}
	live := b.get(t, deployments, "my")
	if diff := cmp.Diff(map[string]string{"theirs": "x"}, live.GetAnnotations()); diff != "" {
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
	for _, entry := range live.GetManagedFields() {
		if entry.Manager == "old" || entry.Manager == "my" {
			t.Errorf("%s still owns fields", entry.Manager)
		}
	}
	// After the takeover, a manager that uses the old name is no longer treated as a predecessor.
	patch = client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"later":"x"}}}`))
	testutil.Must(t, b.client.Patch(t.Context(), live, patch, client.FieldOwner("old")))
	if got := b.apply(t, b.child(t, deploymentText)); got[0] != apply.Unchanged {
		t.Errorf("%s, want unchanged", got[0])
	}
	// If the user ran the predecessor again until the time in PredecessorsUntil, the Applier takes over the predecessor's
	// fields once more.
	live = b.get(t, deployments, "my")
	entries := live.GetManagedFields()
	for i := range entries {
		entries[i].Time = new(metav1.NewTime(time.Now().Add(-time.Hour)))
	}
	live.SetManagedFields(entries)
	live.SetAnnotations(map[string]string{"theirs": "x", "later": "y"}) // a change to timestamps alone is ignored
	testutil.Must(t, b.client.Update(t.Context(), live, client.FieldOwner("old")))
	b.owner.PredecessorsUntil = metav1.NewTime(time.Now().Add(-time.Minute))
	b.apply(t, b.child(t, deploymentText))
	if diff := cmp.Diff(map[string]string{"theirs": "x"}, b.get(t, deployments, "my").GetAnnotations()); diff != "" {
		t.Errorf("annotations after the downgrade and the upgrade (-want +got):\n%s", diff)
	}
	testutil.Must(t, b.client.Patch(t.Context(), b.get(t, deployments, "my"), patch, client.FieldOwner("old")))
	if got := b.apply(t, b.child(t, deploymentText)); got[0] != apply.Unchanged {
		t.Errorf("%s after the downgrade and the upgrade, want unchanged", got[0])
	}
}

// TestTakeOverAgain checks that the Applier takes over the fields of a predecessor that applies or replaces an object
// again, and that the annotation that marks the object keeps the predecessor's value until the next apply.
func TestTakeOverAgain(t *testing.T) {
	const record = "tester.io/record"
	for name, writes := range map[string]func(*testing.T, *bench){
		"the predecessor applies": func(t *testing.T, b *bench) {
			stale := object(t, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: my, annotations: {stale: x}}}`)
			b.applyAs(t, "my", stale)
		},
		"the predecessor replaces": func(t *testing.T, b *bench) {
			live := b.get(t, deployments, "my")
			live.SetAnnotations(map[string]string{"stale": "x"})
			testutil.Must(t, b.client.Update(t.Context(), live, client.FieldOwner("old")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.owner.Mark = apply.Mark{Kind: "Deployment", Annotation: record, Value: "predecessor"}
			wanted := func() *unstructured.Unstructured {
				child := b.child(t, deploymentText)
				child.SetAnnotations(map[string]string{record: "applied"})
				return child
			}
			b.apply(t, wanted())
			b.counter.take()
			writes(t, b)

			inHand := b.get(t, deployments, "my")
			testutil.Must(t, apply.TakeOver("Deployment", inHand, b.owner, manager))
			desired, err := b.applier.CheckOwnership(t.Context(), b.owner, []*unstructured.Unstructured{wanted()})
			testutil.Must(t, err)
			for where, got := range map[string]client.Object{
				"in the cluster": b.get(t, deployments, "my"), "from CheckOwnership": desired[0].Live,
				"from TakeOver": inHand,
			} {
				if diff := cmp.Diff(map[string]string{record: "predecessor", "stale": "x"}, got.GetAnnotations()); diff != "" {
					t.Errorf("annotations %s (-want +got):\n%s", where, diff)
				}
			}
			b.apply(t, wanted())
			live := b.get(t, deployments, "my")
			if diff := cmp.Diff(map[string]string{record: "applied"}, live.GetAnnotations()); diff != "" {
				t.Errorf("annotations (-want +got):\n%s", diff)
			}
			for _, entry := range live.GetManagedFields() {
				if entry.Manager != manager || entry.Operation != metav1.ManagedFieldsOperationApply {
					t.Errorf("%s owns fields by %s: %s", entry.Manager, entry.Operation, entry.FieldsV1.GetRawString())
				}
			}
			if writes := b.counter.take(); writes != 2 {
				t.Errorf("%d writes, want one for the managed fields and one for the object", writes)
			}
			if got := b.apply(t, wanted()); got[0] != apply.Unchanged {
				t.Errorf("%s, want unchanged", got[0])
			}
		})
	}
}

// TestReclaim checks that fields that another client restored are removed if an apply leaves them out, and that the
// client's other fields and the fields of other managers are kept.
func TestReclaim(t *testing.T) {
	b := newBench(t)
	text := func(port, mark string) string {
		return fmt.Sprintf(`
apiVersion: apps/v1
kind: Deployment
metadata: {name: my}
spec:
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}, annotations: {mark: %q}}
    spec: {containers: [{name: c, image: i, ports: [{name: http, containerPort: %s}]}]}
`, mark, port)
	}
	b.apply(t, b.child(t, text("1", "one")))
	old := b.get(t, deployments, "my")
	b.apply(t, b.child(t, text("2", "two")))
	back := b.get(t, deployments, "my")
	back.Object["spec"] = old.Object["spec"]
	back.SetAnnotations(map[string]string{"elsewhere": "x"})
	testutil.Must(t, b.client.Update(t.Context(), back, client.FieldOwner("rollout")))
	patch := client.RawPatch(types.StrategicMergePatchType, []byte(`{"spec":{"template":{"metadata":{"annotations":{"theirs":"x"}}}}}`))
	testutil.Must(t, b.client.Patch(t.Context(), back, patch, client.FieldOwner("somebody")))

	wanted := b.child(t, text("2", "two"))
	objects, err := b.applier.CheckOwnership(t.Context(), b.owner, []*unstructured.Unstructured{wanted})
	testutil.Must(t, err)
	root, mark := []any{"spec", "template"}, []any{"metadata", "annotations", "mark"}
	for range 2 { // there is no field to reclaim the second time
		b.counter.take()
		if objects[0], err = b.applier.Reclaim(t.Context(), objects[0], root, mark); err != nil {
			t.Fatal(err)
		}
	}
	if writes := b.counter.take(); writes != 0 {
		t.Errorf("%d writes although there is no field to reclaim", writes)
	}
	if _, err := b.applier.Set(t.Context(), b.owner, objects); err != nil {
		t.Fatal(err)
	}
	live := b.get(t, deployments, "my")
	if live.GetAnnotations()["elsewhere"] != "x" {
		t.Error("fields of another manager are missing")
	}
	template, _, _ := unstructured.NestedMap(live.Object, "spec", "template")
	annotations, _, _ := unstructured.NestedStringMap(template, "metadata", "annotations")
	if diff := cmp.Diff(map[string]string{"mark": "two", "theirs": "x"}, annotations); diff != "" {
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
	containers, _, _ := unstructured.NestedSlice(template, "spec", "containers")
	ports := containers[0].(map[string]any)["ports"]
	want := []any{map[string]any{"name": "http", "containerPort": int64(2), "protocol": "TCP"}}
	if diff := cmp.Diff(want, ports); diff != "" {
		t.Errorf("ports (-want +got):\n%s", diff)
	}
}

// TestMigrateVolumeClaim checks that the takeover of a claim keeps the fields of its spec that were stored when the
// older program created it, because the spec is immutable.
func TestMigrateVolumeClaim(t *testing.T) {
	b := newBench(t)
	before := b.child(t, claimText)
	testutil.Must(t, unstructured.SetNestedField(before.Object, "slow", "spec", "storageClassName"))
	testutil.Must(t, b.client.Create(t.Context(), before, client.FieldOwner("old")))
	retained := b.child(t, claimText)
	retained.SetOwnerReferences(nil)
	b.apply(t, retained)
	live := b.get(t, claims, "my-pvc")
	if class, _, _ := unstructured.NestedString(live.Object, "spec", "storageClassName"); class != "slow" {
		t.Errorf("storage class %q, want slow", class)
	}
	if refs := live.GetOwnerReferences(); len(refs) != 0 {
		t.Errorf("the claim is still owned: %v", refs)
	}
	b.restart(t)
	b.counter.take()
	if got := b.apply(t, retained); got[0] != apply.Unchanged || b.counter.take() != 0 {
		t.Errorf("second time: %s", got[0])
	}
	if got := b.apply(t, b.child(t, claimText)); got[0] != apply.Adopted {
		t.Errorf("owned again: %s, want adopted", got[0])
	}
}

// TestStaleCache checks that a cache without the Applier's last write does not cause another write. If the cache still
// contains an object that was deleted, the apply fails with a conflict.
func TestStaleCache(t *testing.T) {
	b := newBench(t)
	b.apply(t, b.child(t, serviceText))
	old := b.get(t, services, "my-service")
	cache := &frozen{Reader: b.client, object: old}
	b.applier = b.newApplier(t, b.client.Scheme(), cache)

	changed := b.child(t, serviceText)
	changed.SetAnnotations(map[string]string{"more": "x"})
	b.apply(t, changed)
	b.counter.take()
	if got := b.apply(t, changed); got[0] != apply.Unchanged || b.counter.take() != 0 {
		t.Errorf("written again while the cache lags behind: %s", got[0])
	}

	testutil.Must(t, b.client.Delete(t.Context(), old))
	changed.SetAnnotations(map[string]string{"more": "y"})
	found, err := b.applier.CheckOwnership(t.Context(), b.owner, []*unstructured.Unstructured{changed})
	testutil.Must(t, err)
	if _, err := b.applier.Set(t.Context(), b.owner, found); !apierrors.IsConflict(err) {
		t.Errorf("apply to a deleted object: %v, want a conflict", err)
	}
}

// TestLongAnswer checks that the Applier does not keep a long response, which a paused stack would never release. It
// reads the object again instead.
func TestLongAnswer(t *testing.T) {
	b := newBench(t)
	b.apply(t, b.child(t, serviceText))
	for _, bytes := range []int{10 << 10, 100 << 10} {
		cached := b.get(t, services, "my-service")
		b.applier = b.newApplier(t, b.client.Scheme(), &frozen{Reader: b.client, object: cached})
		changed := b.child(t, serviceText)
		changed.SetAnnotations(map[string]string{"long": strings.Repeat("x", bytes)})
		b.apply(t, changed)
		if kept, long := b.applier.Keeps(b.owner, cached), bytes > stub.MaxWhole; kept == long {
			t.Errorf("a response of %d KiB is kept: %t", bytes>>10, kept)
		}
	}
}

// frozen always returns the same version of one object.
type frozen struct {
	client.Reader
	object *unstructured.Unstructured
}

func (f *frozen) Get(ctx context.Context, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
	service, ok := into.(*corev1.Service)
	if !ok || key.Name != f.object.GetName() {
		return f.Reader.Get(ctx, key, into, options...)
	}
	service.SetUID(f.object.GetUID())
	service.SetName(f.object.GetName())
	service.SetNamespace(f.object.GetNamespace())
	service.SetResourceVersion(f.object.GetResourceVersion())
	service.SetOwnerReferences(f.object.GetOwnerReferences())
	service.SetManagedFields(f.object.GetManagedFields())
	return nil
}

func TestPrune(t *testing.T) {
	b := newBench(t)
	named := func(text, name string) *unstructured.Unstructured {
		u := b.child(t, text)
		u.SetName(name)
		return u
	}
	foreign := named(configText, "foreign")
	foreign.SetOwnerReferences(nil)
	unlabeled := named(configText, "unlabeled")
	unlabeled.SetLabels(nil)
	for _, object := range []*unstructured.Unstructured{
		foreign, unlabeled, named(configText, "kept"), named(configText, "old"), named(serviceText, "old"),
		named(claimText, "old"),
	} {
		testutil.Must(t, b.client.Create(t.Context(), object))
	}
	keep := func(child apply.Child) bool { return child.Name == "kept" }
	kinds := []schema.GroupVersionKind{configMaps, services, claims, deployments}
	testutil.Must(t, b.applier.Prune(t.Context(), b.owner, kinds, keep))
	var found []string
	for _, kind := range []schema.GroupVersionKind{configMaps, services} {
		var left unstructured.UnstructuredList
		left.SetGroupVersionKind(kind)
		testutil.Must(t, b.client.List(t.Context(), &left, client.InNamespace(b.owner.Namespace)))
		for i := range left.Items {
			found = append(found, left.Items[i].GetName())
		}
	}
	slices.Sort(found)
	if diff := cmp.Diff([]string{"foreign", "kept", "my", "unlabeled"}, found); diff != "" {
		t.Errorf("left (-want +got):\n%s", diff)
	}
	b.get(t, claims, "old")
	b.counter.take()
	if err := b.applier.Prune(t.Context(), b.owner, kinds, keep); err != nil || b.counter.take() != 0 {
		t.Errorf("second time: %v", err)
	}
}

func TestForget(t *testing.T) {
	b := newBench(t)
	b.apply(t, b.child(t, configText))
	b.counter.reads.Store(0)
	b.applier.Forget(b.owner.Key())
	b.apply(t, b.child(t, configText))
	if reads := b.counter.reads.Load(); reads != 1 {
		t.Errorf("%d reads after Forget, want 1", reads)
	}
}

// TestRecall checks that an Applier without stored responses reads no ConfigMap whose version is recorded, and that it
// reads and reverts a ConfigMap that has changed since then.
func TestRecall(t *testing.T) {
	b := newBench(t)
	wanted := b.child(t, configText)
	b.apply(t, wanted)
	digests := map[string]string{wanted.GetName(): apply.Digest(wanted, b.get(t, configMaps, wanted.GetName()))}
	again := func(wanted *unstructured.Unstructured) (reads int64, outcomes []apply.Outcome) {
		t.Helper()
		b.restart(t)
		b.counter.reads.Store(0)
		testutil.Must(t, b.applier.Recall(t.Context(), b.owner, []*unstructured.Unstructured{wanted}, digests))
		outcomes = b.apply(t, wanted)
		return b.counter.reads.Load(), outcomes
	}
	if reads, outcomes := again(wanted); reads != 0 || !slices.Equal(outcomes, []apply.Outcome{apply.Unchanged}) {
		t.Errorf("an unchanged ConfigMap: %d reads, %v", reads, outcomes)
	}
	other := wanted.DeepCopy()
	other.SetLabels(map[string]string{"by": "tester", "of": "my", "new": "label"})
	if reads, outcomes := again(other); reads != 1 || !slices.Equal(outcomes, []apply.Outcome{apply.Configured}) {
		t.Errorf("another desired state: %d reads, %v", reads, outcomes)
	}
	if reads, outcomes := again(wanted); reads != 1 || !slices.Equal(outcomes, []apply.Outcome{apply.Configured}) {
		t.Errorf("another version of the ConfigMap: %d reads, %v", reads, outcomes)
	}
}
