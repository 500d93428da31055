package apply

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/csaupgrade"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// migrateFieldOwnership makes the fields that the owner's predecessors and the makers of the
// object wrote ours, so that what an apply leaves out really goes away. Of
// predecessors that happens once an object: as soon as we have applied anything,
// whoever writes beside us means to. The patch touches nothing but the managed
// fields and is refused when the object changed.
func (a *Applier) migrateFieldOwnership(ctx context.Context, owner Owner, wanted, live *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	fields, err := TakenOver(live, owner, a.manager)
	if err != nil {
		return nil, err
	}
	entries := fields
	if entries == nil {
		entries = managedFields(live)
	}
	made, err := migrateFromMakers(owner, wanted, live, entries, a.manager)
	if err != nil {
		return nil, fmt.Errorf("take over the fields of %s %q: %w", live.GetKind(), live.GetName(), err)
	}
	if made != nil {
		fields = made
	}
	if fields == nil {
		return live, nil
	}
	taken, err := a.replaceManagedFields(ctx, live, fields)
	if err != nil {
		return nil, fmt.Errorf("take over the fields of %w", err)
	}
	return taken, nil
}

// TakenOver returns the managed fields of an object after the manager took over those of the owner's predecessors. Nil:
// there is nothing to take, because the manager has applied the object since they were last at work, or none of
// them wrote it.
func TakenOver(live *unstructured.Unstructured, owner Owner, manager string) ([]metav1.ManagedFieldsEntry, error) {
	entries := managedFields(live)
	if i := indexApplied(entries, manager); i >= 0 {
		if !entries[i].Time.Before(&owner.PredecessorsUntil) {
			return nil, nil
		}
		entries[i].Time = owner.PredecessorsUntil.DeepCopy() // once more, and not again
	}
	// The upgrade knows only entries of updates: let the applied ones look alike.
	sources := sets.New[string]()
	for i, entry := range entries {
		if entry.Subresource == "" && slices.Contains(owner.Predecessors, Manager{Name: entry.Manager, Operation: entry.Operation}) {
			entries[i].Operation = metav1.ManagedFieldsOperationUpdate
			sources.Insert(entry.Manager)
		}
	}
	if sources.Len() == 0 {
		return nil, nil
	}
	upgraded := &unstructured.Unstructured{Object: map[string]any{}}
	upgraded.SetManagedFields(entries)
	if err := csaupgrade.UpgradeManagedFields(upgraded, sources, manager); err != nil {
		return nil, fmt.Errorf("take over the fields of %s %q: %w", live.GetKind(), live.GetName(), err)
	}
	entries = upgraded.GetManagedFields()
	if live.GetKind() != "PersistentVolumeClaim" {
		return entries, nil
	}
	return entries, keepMetadata(entries, manager)
}

// keepMetadata gives up everything but the metadata: a claim's spec cannot be
// changed, so dropping a default that the predecessor stored would be refused.
func keepMetadata(entries []metav1.ManagedFieldsEntry, manager string) error {
	i := indexApplied(entries, manager)
	if i < 0 {
		return nil
	}
	set, err := decode(entries[i])
	if err != nil {
		return err
	}
	kept, _ := split(set, func(path fieldpath.Path) bool { return path[0].FieldName != nil && *path[0].FieldName == "metadata" })
	return encode(&entries[i], kept)
}
