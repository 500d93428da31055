package apply

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// migrateFromMakers computes the managed fields that result when the manager takes over the fields that the makers of
// the object wrote. It returns nil if there are no such fields. A maker is a manager that added the labels of the
// owner's children to the object, such as a backup tool that restored the object, or a client that applied a copy of
// it. A maker owns fields that the operator once rendered, and the next apply must be able to remove these fields. For
// example, the API server rejects a list of ports that keeps an old entry with the same name.
//
// The manager always takes over the fields that makers wrote with updates. Until it has adopted and applied the object
// once, it also takes over the fields that makers applied. After that, the fields that a maker applies are intentional.
func migrateFromMakers(
	owner Owner, wanted, live *unstructured.Unstructured, entries []metav1.ManagedFieldsEntry, manager string,
) ([]metav1.ManagedFieldsEntry, error) {
	ours := indexApplied(entries, manager)
	adopted := ours < 0 || metav1.GetControllerOfNoCopy(live) == nil && metav1.GetControllerOfNoCopy(wanted) != nil
	owned, changed := fieldpath.NewSet(), false
	for i, entry := range entries {
		if i == ours || !isMaker(entry, owner, wanted.GetAPIVersion()) ||
			entry.Operation == metav1.ManagedFieldsOperationApply && !adopted {
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

// isMaker reports whether the entry's manager wrote all labels of the owner's children.
func isMaker(entry metav1.ManagedFieldsEntry, owner Owner, apiVersion string) bool {
	if entry.Subresource != "" || entry.APIVersion != apiVersion || entry.FieldsV1 == nil || len(owner.Labels) == 0 {
		return false
	}
	text := entry.FieldsV1.GetRawString()
	for label := range owner.Labels {
		if !strings.Contains(text, `"f:`+label+`"`) { // avoids decoding the entries of other managers
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

// mayBeRendered reports whether an operator might have rendered a field. The field must be below a top-level field of
// `wanted`. Labels and annotations of the object and of its pod template must be in `wanted` themselves.
func mayBeRendered(path fieldpath.Path, wanted *unstructured.Unstructured) bool {
	top := path[0].FieldName
	if top == nil || wanted.Object[*top] == nil {
		return false
	}
	// The spec of a volume claim is immutable, so the API server rejects the removal of a stored default.
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

// has reports whether the fields of an object contain the path. It returns false for a path through a list.
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

// withOwned adds fields to the entry of the manager, and removes entries without fields.
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
