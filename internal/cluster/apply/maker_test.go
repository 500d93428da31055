package apply_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/apply"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// backup is the manager of a backup tool.
const backup = client.FieldOwner("velero-server")

// restore creates a child as a backup tool does: with a create request, without an owner, and with an annotation that
// another client set.
func (b *bench) restore(t *testing.T, text string) {
	t.Helper()
	child := b.child(t, text)
	child.SetOwnerReferences(nil)
	child.SetAnnotations(map[string]string{"theirs": "x"})
	testutil.Must(t, b.client.Create(t.Context(), child, backup))
}

// TestMigrateRestoredObject checks that the Applier owns the fields of a restored object after its adoption: a port or
// a variable that an apply leaves out is removed, and fields of other managers are kept.
func TestMigrateRestoredObject(t *testing.T) {
	for name, tc := range map[string]struct{ before, after string }{
		"Service": {
			serviceText,
			`{apiVersion: v1, kind: Service, metadata: {name: my-service}, spec: {selector: {app: my}, ports: [{name: http, port: 81, targetPort: 81, protocol: TCP}]}}`,
		},
		"Deployment": {
			`{apiVersion: apps/v1, kind: Deployment, metadata: {name: my}, spec: {selector: {matchLabels: {app: my}}, template: {metadata: {labels: {app: my}, annotations: {restarted: x}},
				spec: {containers: [{name: c, image: i, ports: [{name: http, containerPort: 80}], env: [{name: A, value: a}]}]}}}}`,
			`{apiVersion: apps/v1, kind: Deployment, metadata: {name: my}, spec: {selector: {matchLabels: {app: my}}, template: {metadata: {labels: {app: my}},
				spec: {containers: [{name: c, image: i, ports: [{name: http, containerPort: 81}], env: [{name: B, value: b}]}]}}}}`,
		},
		"ConfigMap": {
			`{apiVersion: v1, kind: ConfigMap, metadata: {name: my-startup}, data: {a: "1"}}`,
			`{apiVersion: v1, kind: ConfigMap, metadata: {name: my-startup}, data: {b: "1"}}`,
		},
		"PersistentVolumeClaim": {
			`{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: my-pvc}, spec: {storageClassName: slow, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}`,
			claimText,
		},
		"NetworkPolicy": {
			`{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: my}, spec: {podSelector: {}, policyTypes: [Ingress], ingress: [{}]}}`,
			`{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: my}, spec: {podSelector: {}, policyTypes: [Ingress]}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.restore(t, tc.before)
			if got := b.apply(t, b.child(t, tc.before)); got[0] != apply.Adopted {
				t.Errorf("%s, want adopted", got[0])
			}
			b.changes(t, tc.after)
		})
	}
}

// changes applies a different rendering, and checks that the object then has no fields from the previous rendering,
// except fields of other managers.
func (b *bench) changes(t *testing.T, text string) {
	t.Helper()
	wanted := b.child(t, text)
	kind := wanted.GroupVersionKind()
	b.apply(t, wanted)
	live := b.get(t, kind, wanted.GetName())
	if live.GetAnnotations()["theirs"] != "x" {
		t.Error("an annotation of another manager is missing")
	}
	fresh := newBench(t)
	fresh.apply(t, fresh.child(t, text))
	for _, field := range []string{"spec", "data"} {
		got, want := live.Object[field], fresh.get(t, kind, wanted.GetName()).Object[field]
		if diff := cmp.Diff(settled(want), settled(got)); diff != "" {
			t.Errorf("%s (-created again +changed):\n%s", field, diff)
		}
	}
	b.restart(t)
	if b.counter.take(); b.apply(t, b.child(t, text))[0] != apply.Unchanged || b.counter.take() != 0 {
		t.Error("the second apply wrote the object")
	}
}

// settled removes the fields that a cluster sets, and two fields that an apply does not remove: the storage class of a
// claim, and the annotations of the pod template.
func settled(value any) any {
	spec, ok := value.(map[string]any)
	if !ok {
		return value
	}
	for _, path := range [][]string{
		{"clusterIP"},
		{"clusterIPs"},
		{"storageClassName"},
		{"template", "metadata", "annotations"},
		{"template", "metadata", "creationTimestamp"},
	} {
		unstructured.RemoveNestedField(spec, path...)
	}
	return spec
}

// TestMigrateLongAfterTheAdoption checks that the Applier takes over the fields of an object even if an earlier version
// adopted the object without taking over its fields.
func TestMigrateLongAfterTheAdoption(t *testing.T) {
	b := newBench(t)
	b.restore(t, serviceText)
	ours := b.child(t, serviceText)
	b.applyAs(t, manager, ours)
	b.changes(t, `{apiVersion: v1, kind: Service, metadata: {name: my-service}, spec: {selector: {app: my}, ports: [{name: http, port: 81, targetPort: 81, protocol: TCP}]}}`)
}

// TestMigrateKeepsOtherManagers checks that the Applier does not take over the fields of a client that applies a copy
// of an object later, because such an apply is intended. Nor does it take over the fields of a client that updates an
// object without writing the labels.
func TestMigrateKeepsOtherManagers(t *testing.T) {
	b := newBench(t)
	b.apply(t, b.child(t, serviceText))
	theirs := b.child(t, serviceText)
	theirs.SetAnnotations(map[string]string{"theirs": "x"})
	b.applyAs(t, "gitops", theirs)
	patch := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"sessionAffinity":"ClientIP"}}`))
	testutil.Must(t, b.client.Patch(t.Context(), b.get(t, services, "my-service"), patch, client.FieldOwner("somebody")))
	b.restart(t)
	b.counter.take()
	if got := b.apply(t, b.child(t, serviceText)); got[0] != apply.Unchanged || b.counter.take() != 0 {
		t.Errorf("%s, want unchanged and no write", got[0])
	}
	owners := map[string]bool{}
	for _, entry := range b.get(t, services, "my-service").GetManagedFields() {
		owners[entry.Manager] = entry.Operation == metav1.ManagedFieldsOperationApply
	}
	if diff := cmp.Diff(map[string]bool{manager: true, "gitops": true, "somebody": false}, owners); diff != "" {
		t.Errorf("managers (-want +got):\n%s", diff)
	}
}
