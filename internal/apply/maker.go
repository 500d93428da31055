package apply

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// inheritFromMakers computes the managed fields after the manager takes over what the
// makers of the object wrote, nil when there is nothing to take. A maker wrote the
// labels by which the object is the owner's: a backup tool that restored it, or whoever
// applied a copy. It owns what the operator rendered once, and the next apply must be
// able to drop that: a list of ports that keeps an old entry of the same name is
// refused.
//
// A maker that updates is gone after that. One that applies goes on as long as the
// object is not adopted yet, or has never been applied; later it is somebody who means
// it.
func inheritFromMakers(
	owner Owner, wanted, live *unstructured.Unstructured, entries []metav1.ManagedFieldsEntry, manager string,
) ([]metav1.ManagedFieldsEntry, error) {
	ours := slices.IndexFunc(entries, func(e metav1.ManagedFieldsEntry) bool { return applied(e, manager) })
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
		taken, left := rendered(set, wanted)
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

// rendered tells what an operator may have rendered from what is left to its writer:
// the fields of an object that wanted has, and of labels and annotations, of the object
// and of its pod template, those that wanted has.
func rendered(set *fieldpath.Set, wanted *unstructured.Unstructured) (taken, left *fieldpath.Set) {
	taken, left = fieldpath.NewSet(), fieldpath.NewSet()
	isClaim := wanted.GetKind() == "PersistentVolumeClaim"
	for path := range set.All() {
		into := taken
		if !mayBeRendered(path, wanted.Object, isClaim) {
			into = left
		}
		into.Insert(path.Copy())
	}
	return taken, left
}

func mayBeRendered(path fieldpath.Path, wanted map[string]any, isClaim bool) bool {
	top := path[0].FieldName
	if top == nil || wanted[*top] == nil {
		return false
	}
	// A claim's spec cannot be changed: to drop a default that is stored there is refused.
	if isClaim && *top != "metadata" {
		return false
	}
	for i := 0; i+1 < len(path); i++ {
		if name := path[i].FieldName; name == nil || *name != "metadata" {
			continue
		}
		return has(wanted, path[:min(i+3, len(path))])
	}
	return true
}

// has reports whether the fields of an object have the path, which has no list in it.
func has(fields map[string]any, path fieldpath.Path) bool {
	var value any = fields
	for _, element := range path {
		object, ok := value.(map[string]any)
		if !ok || element.FieldName == nil {
			return false
		}
		if value, ok = object[*element.FieldName]; !ok {
			return false
		}
	}
	return true
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
	return slices.DeleteFunc(entries, func(e metav1.ManagedFieldsEntry) bool {
		return e.FieldsV1 != nil && e.FieldsV1.GetRawString() == "{}"
	}), nil
}
