package apply

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// managedFields returns the managed fields of an object. The object may come from a cache with SharedFields, so callers
// must not change the data of the fields.
func managedFields(object metav1.Object) []metav1.ManagedFieldsEntry {
	entries := slices.Clone(object.GetManagedFields())
	controller := uidOfController(object)
	if controller == "" {
		return entries
	}
	for i, entry := range entries {
		if entry.FieldsV1 == nil {
			continue
		}
		if text := entry.FieldsV1.GetRawString(); strings.Contains(text, controllerUID) {
			entries[i].FieldsV1 = metav1.NewFieldsV1(strings.ReplaceAll(text, controllerUID, controller))
		}
	}
	return entries
}

// uidOfController returns the UID of the object's controller. It returns "" if the UID has another length than those of
// the API server, because tenants can write a single letter, and its replacement would make long fields of short ones.
func uidOfController(object metav1.Object) string {
	if controller := metav1.GetControllerOfNoCopy(object); controller != nil && len(controller.UID) == len(controllerUID) {
		return string(controller.UID)
	}
	return ""
}

// ownedFields returns the set of fields that the manager applied in apiVersion. It returns nil if there is no entry for
// them, or if the entry is invalid.
func ownedFields(live metav1.Object, apiVersion, manager string) *fieldpath.Set {
	entries := managedFields(live)
	i := slices.IndexFunc(entries, func(e metav1.ManagedFieldsEntry) bool {
		return applied(e, manager) &&
			e.APIVersion == apiVersion
	})
	if i < 0 {
		return nil
	}
	set, err := decode(entries[i])
	if err != nil {
		return nil // with the next apply, the API server writes a valid entry
	}
	return set
}

// indexApplied returns the index of the entry for the manager's applied fields, or a negative number if there is none.
func indexApplied(entries []metav1.ManagedFieldsEntry, manager string) int {
	return slices.IndexFunc(entries, func(e metav1.ManagedFieldsEntry) bool { return applied(e, manager) })
}

func applied(entry metav1.ManagedFieldsEntry, manager string) bool {
	return entry.Manager == manager && entry.Operation == metav1.ManagedFieldsOperationApply && entry.Subresource == ""
}

func decode(entry metav1.ManagedFieldsEntry) (*fieldpath.Set, error) {
	set := &fieldpath.Set{}
	if entry.FieldsV1 == nil {
		return set, nil
	}
	if err := set.FromJSON(bytes.NewReader(entry.FieldsV1.GetRawBytes())); err != nil {
		return nil, fmt.Errorf("decode managed fields of %q: %w", entry.Manager, err)
	}
	return set, nil
}

func encode(entry *metav1.ManagedFieldsEntry, set *fieldpath.Set) error {
	var encoded bytes.Buffer
	if err := set.ToJSONStream(&encoded); err != nil {
		return fmt.Errorf("encode managed fields of %q: %w", entry.Manager, err)
	}
	entry.FieldsV1 = metav1.NewFieldsV1(encoded.String())
	return nil
}

// withoutEmpty removes the entries without fields.
func withoutEmpty(entries []metav1.ManagedFieldsEntry) []metav1.ManagedFieldsEntry {
	return slices.DeleteFunc(entries, func(e metav1.ManagedFieldsEntry) bool {
		return e.FieldsV1 != nil && e.FieldsV1.GetRawString() == "{}"
	})
}

// split divides a set into the fields for which `choose` returns true, and all other fields.
func split(set *fieldpath.Set, choose func(fieldpath.Path) bool) (chosen, left *fieldpath.Set) {
	chosen, left = fieldpath.NewSet(), fieldpath.NewSet()
	for path := range set.All() {
		into := left
		if choose(path) {
			into = chosen
		}
		into.Insert(path.Copy())
	}
	return chosen, left
}
