package manager

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// Equal fields are kept once; nothing else of an object changes.
func TestShareOwnership(t *testing.T) {
	service := func(fields ...string) *corev1.Service {
		object := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "my-service"}}
		for _, field := range fields {
			object.ManagedFields = append(object.ManagedFields, metav1.ManagedFieldsEntry{
				Manager: field, FieldsV1: metav1.NewFieldsV1(`{"f:` + field + `":{}}`),
			})
		}
		return object
	}
	empty := service("spec")
	empty.ManagedFields = append(empty.ManagedFields, metav1.ManagedFieldsEntry{Manager: "nobody"})
	shared := newOwnership()
	var kept []*corev1.Service
	for _, object := range []*corev1.Service{service("spec", "status"), service("status", "spec"), empty, service()} {
		want := object.DeepCopy()
		got, err := shared.share(object)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(any(want), got); diff != "" {
			t.Errorf("an object changed (-want +got):\n%s", diff)
		}
		kept = append(kept, object)
	}
	first := kept[0].ManagedFields
	if kept[1].ManagedFields[0].FieldsV1 != first[1].FieldsV1 || kept[1].ManagedFields[1].FieldsV1 != first[0].FieldsV1 ||
		kept[2].ManagedFields[0].FieldsV1 != first[0].FieldsV1 {
		t.Error("equal fields are kept twice")
	}
	gone := cache.DeletedFinalStateUnknown{Key: "ns/my-service"}
	if got, err := shared.share(gone); err != nil || got != any(gone) {
		t.Errorf("share(%v) = %v, %v", gone, got, err)
	}
}
