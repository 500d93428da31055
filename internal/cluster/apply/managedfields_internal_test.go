package apply

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// TestSharedFields checks that managed fields that differ only in the controller's UID are stored once and read back
// unchanged, and that other fields of an object do not change.
func TestSharedFields(t *testing.T) {
	const one, other = "11111111-aaaa-4aaa-8aaa-111111111111", "22222222-bbbb-4bbb-8bbb-222222222222"
	owned := func(uid string) string {
		return `{"f:metadata":{"f:ownerReferences":{"k:{\"uid\":\"` + uid + `\"}":{}}}}`
	}
	service := func(controller string, fields ...string) *corev1.Service {
		object := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "my-service"}}
		if controller != "" {
			object.OwnerReferences = []metav1.OwnerReference{
				{UID: "somebody"},
				{UID: types.UID(controller), Controller: new(true)},
			}
		}
		for _, text := range fields {
			object.ManagedFields = append(object.ManagedFields,
				metav1.ManagedFieldsEntry{Manager: "me", FieldsV1: metav1.NewFieldsV1(text)})
		}
		return object
	}
	status := `{"f:status":{}}`
	without := service(one, status)
	without.ManagedFields = append(without.ManagedFields, metav1.ManagedFieldsEntry{Manager: "nobody"})
	shared := NewSharedFields()
	var kept []*corev1.Service
	for _, object := range []*corev1.Service{
		service(one, owned(one), status), service(other, status, owned(other)), service("", status, owned(one)), without,
		service(one),
	} {
		want := object.DeepCopy()
		got, err := shared.Transform(object)
		testutil.Must(t, err)
		if diff := cmp.Diff(want.ManagedFields, managedFields(object)); diff != "" {
			t.Errorf("managed fields changed (-want +got):\n%s", diff)
		}
		kept = append(kept, object.DeepCopy())
		kept[len(kept)-1].ManagedFields = object.ManagedFields
		want.ManagedFields, object.ManagedFields = nil, nil
		if diff := cmp.Diff(any(want), got); diff != "" {
			t.Errorf("an object changed (-want +got):\n%s", diff)
		}
	}
	fields := func(object, entry int) *metav1.FieldsV1 { return kept[object].ManagedFields[entry].FieldsV1 }
	if fields(0, 0) != fields(1, 1) || fields(0, 1) != fields(1, 0) || fields(0, 1) != fields(2, 0) ||
		fields(0, 1) != fields(3, 0) {
		t.Error("equal fields are stored twice")
	}
	if fields(2, 1) == fields(0, 0) || !strings.Contains(fields(2, 1).GetRawString(), one) {
		t.Error("the UID of another object's controller is replaced")
	}
	before := shared.known.Len()
	if _, err := shared.Transform(service(one, strings.Repeat(" ", maxShared)+status)); err != nil {
		t.Fatal(err)
	}
	if after := shared.known.Len(); after != before {
		t.Errorf("%d sets of fields are stored after a long one, want %d", after, before)
	}
	gone := cache.DeletedFinalStateUnknown{Key: "ns/my-service"}
	if got, err := shared.Transform(gone); err != nil || got != any(gone) {
		t.Errorf("Transform(%v) = %v, %v", gone, got, err)
	}
}

// TestSharedFieldsOfAShortUID checks that stored fields are not longer than those of the object. The API server accepts
// any text as the UID of an owner.
func TestSharedFieldsOfAShortUID(t *testing.T) {
	text := `{"f:metadata":{"f:annotations":{"f:` + strings.Repeat("a", maxShared/2) + `":{}}}}`
	object := &corev1.Service{ObjectMeta: metav1.ObjectMeta{
		OwnerReferences: []metav1.OwnerReference{{UID: "a", Controller: new(true)}},
		ManagedFields:   []metav1.ManagedFieldsEntry{{Manager: "me", FieldsV1: metav1.NewFieldsV1(text)}},
	}}
	if _, err := NewSharedFields().Transform(object); err != nil {
		t.Fatal(err)
	}
	if got := object.ManagedFields[0].FieldsV1.GetRawString(); len(got) > len(text) {
		t.Errorf("%d bytes are stored, want at most %d", len(got), len(text))
	}
	if got := managedFields(object)[0].FieldsV1.GetRawString(); got != text {
		t.Errorf("the fields became %.200s", got)
	}
}
