package apply

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// Reclaim takes over the fields below the path `root` from every manager whose updates also wrote the field at the path
// `mark`, which is relative to `root`. Only the owner sets the field at `mark`, so any other manager that writes it is
// restoring fields that the owner once applied. After Reclaim, the next apply removes the fields below `root` that it
// leaves out. Reclaim returns the desired object with its current live object. It writes nothing if there are no fields
// to reclaim.
func (a *Applier) Reclaim(ctx context.Context, desired Desired, root, mark []any) (Desired, error) {
	if desired.Live == nil {
		return desired, nil
	}
	marked, err := fieldpath.MakePath(slices.Concat(root, mark)...)
	if err != nil {
		return desired, fmt.Errorf("take over fields of %s %q: %w", desired.Wanted.GetKind(), desired.Live.GetName(), err)
	}
	fields, err := reclaimed(desired.Live, a.manager, marked[:len(root)], marked)
	if err != nil || fields == nil {
		return desired, err
	}
	live, err := desired.content()
	if err == nil {
		live, err = a.replaceManagedFields(ctx, live, fields, nil)
	}
	if err != nil {
		return desired, fmt.Errorf("take over fields of %w", err)
	}
	desired.Live, desired.confirmed = live, false
	return desired, nil
}

// reclaimed returns the managed fields after Reclaim, or nil if nothing changes.
func reclaimed(live metav1.Object, manager string, below, marked fieldpath.Path) ([]metav1.ManagedFieldsEntry, error) {
	entries := managedFields(live)
	ours := indexApplied(entries, manager)
	if ours < 0 {
		return nil, nil
	}
	var owned *fieldpath.Set
	for i, entry := range entries {
		if entry.Operation != metav1.ManagedFieldsOperationUpdate || entry.Subresource != "" ||
			entry.APIVersion != entries[ours].APIVersion {
			continue
		}
		set, err := decode(entry)
		if err != nil {
			return nil, err
		}
		if !set.Has(marked) {
			continue
		}
		if owned == nil {
			if owned, err = decode(entries[ours]); err != nil {
				return nil, err
			}
		}
		moved, left := split(set, func(path fieldpath.Path) bool {
			return len(path) > len(below) && path[:len(below)].Equals(below)
		})
		owned = owned.Union(moved)
		if err := encode(&entries[i], left); err != nil {
			return nil, err
		}
	}
	if owned == nil {
		return nil, nil
	}
	err := encode(&entries[ours], owned)
	return withoutEmpty(entries), err
}

// replaceManagedFields patches the managed fields of an object. If annotations is not nil, it also patches the
// annotations. The patch fails if the object has changed.
func (a *Applier) replaceManagedFields(
	ctx context.Context, live *unstructured.Unstructured, fields []metav1.ManagedFieldsEntry,
	annotations map[string]string,
) (*unstructured.Unstructured, error) {
	changes := []map[string]any{
		{"op": "replace", "path": "/metadata/managedFields", "value": fields},
		{"op": "replace", "path": "/metadata/resourceVersion", "value": live.GetResourceVersion()},
	}
	if annotations != nil {
		changes = append(changes, map[string]any{"op": "add", "path": "/metadata/annotations", "value": annotations})
	}
	patch, err := json.Marshal(changes)
	if err != nil {
		return nil, fmt.Errorf("%s %q: encode managed fields: %w", live.GetKind(), live.GetName(), err)
	}
	now := &unstructured.Unstructured{}
	now.SetGroupVersionKind(live.GroupVersionKind())
	now.SetNamespace(live.GetNamespace())
	now.SetName(live.GetName())
	if err := a.writer.Patch(ctx, now, client.RawPatch(types.JSONPatchType, patch),
		client.FieldOwner(a.manager)); err != nil {
		return nil, fmt.Errorf("%s %q: %w", live.GetKind(), live.GetName(), err)
	}
	return now, nil
}
