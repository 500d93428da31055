package apply

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// migrateFromMakers computes the managed fields after the manager takes over what the
// makers of the object wrote, nil when there is nothing to take. A maker wrote the
// labels by which the object is the owner's: a backup tool that restored it, or whoever
// applied a copy. It owns what the operator rendered once, and the next apply must be
// able to drop that: a list of ports that keeps an old entry of the same name is
// refused.
//
// A maker that updates is gone after that. One that applies goes on as long as the
// object is not adopted yet, or has never been applied; later it is somebody who means
// it.
func migrateFromMakers(
	owner Owner, wanted, live *unstructured.Unstructured, entries []metav1.ManagedFieldsEntry, manager string,
) ([]metav1.ManagedFieldsEntry, error) {
	ours := indexApplied(entries, manager)
	adopted := ours < 0 || metav1.GetControllerOfNoCopy(live) == nil && metav1.GetControllerOfNoCopy(wanted) != nil
	owned, changed := fieldpath.NewSet(), false
	for i, entry := range entries {
		if i == ours || !isMaker(entry, owner, wanted.GetAPIVersion()) || entry.Operation == metav1.ManagedFieldsOperationApply && !adopted {
			continue
		}
		set, err := decode(entry)
		if err != nil {
			return nil, err
		}
		taken, left := split(set, func(path fieldpath.Path) bool { return mayBeRendered(path, wanted) })
		if taken.Empty() {
			continue
		}
		owned, changed = owned.Union(taken), true
		if err := encode(&entries[i], left); err != nil {
			return nil, err
		}
	}
	if !changed {
		return nil, nil
	}
	return withOwned(entries, ours, owned, manager, wanted.GetAPIVersion())
}

// isMaker reports whether the entry's manager wrote all of the labels.
func isMaker(entry metav1.ManagedFieldsEntry, owner Owner, apiVersion string) bool {
	if entry.Subresource != "" || entry.APIVersion != apiVersion || entry.FieldsV1 == nil || len(owner.Labels) == 0 {
		return false
	}
	text := entry.FieldsV1.GetRawString()
	for label := range owner.Labels {
		if !strings.Contains(text, `"f:`+label+`"`) { // spares the decoding of everybody else's
			return false
		}
	}
	set, err := decode(entry)
	if err != nil {
		return false
	}
	for label := range owner.Labels {
		if !set.Has(fieldpath.MakePathOrDie("metadata", "labels", label)) {
			return false
		}
	}
	return true
}

// mayBeRendered reports whether an operator may have rendered a field: one of a field
// that wanted has, and of labels and annotations, of the object and of its pod template,
// one that wanted has.
func mayBeRendered(path fieldpath.Path, wanted *unstructured.Unstructured) bool {
	top := path[0].FieldName
	if top == nil || wanted.Object[*top] == nil {
		return false
	}
	// The spec of a volume claim cannot be changed: to drop a default that is stored there is refused.
	if wanted.GetKind() == "PersistentVolumeClaim" && *top != "metadata" {
		return false
	}
	for i := 0; i+1 < len(path); i++ {
		if name := path[i].FieldName; name == nil || *name != "metadata" {
			continue
		}
		return has(wanted.Object, path[:min(i+3, len(path))])
	}
	return true
}

// has reports whether the fields of an object have the path, which has no list in it.
func has(fields map[string]any, path fieldpath.Path) bool {
	names := make([]string, len(path))
	for i, element := range path {
		if element.FieldName == nil {
			return false
		}
		names[i] = *element.FieldName
	}
	_, found, err := unstructured.NestedFieldNoCopy(fields, names...)
	return found && err == nil
}

// withOwned adds fields to the manager's own, and drops entries that have none left.
func withOwned(
	entries []metav1.ManagedFieldsEntry, ours int, owned *fieldpath.Set, manager, apiVersion string,
) ([]metav1.ManagedFieldsEntry, error) {
	if ours < 0 {
		ours = len(entries)
		entries = append(entries, metav1.ManagedFieldsEntry{
			Manager: manager, Operation: metav1.ManagedFieldsOperationApply, APIVersion: apiVersion, FieldsType: "FieldsV1",
		})
	}
	before, err := decode(entries[ours])
	if err != nil {
		return nil, err
	}
	if err := encode(&entries[ours], before.Union(owned)); err != nil {
		return nil, err
	}
	return withoutEmpty(entries), nil
}
