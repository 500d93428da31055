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

// migrateFieldOwnership takes over the fields that the owner's predecessors and the makers of the object wrote, so that
// an apply removes the fields that it leaves out. It takes over fields of predecessors if the manager
// has not applied the object since they wrote it. Any other manager keeps its fields, because it writes them
// intentionally. The patch changes only the managed fields and the owner's mark, and fails if the object has changed.
func (a *Applier) migrateFieldOwnership(
	ctx context.Context, owner Owner, wanted, live *unstructured.Unstructured,
) (*unstructured.Unstructured, error) {
	fields, err := TakenOver(live.GetKind(), live, owner, a.manager)
	if err != nil {
		return nil, err
	}
	var marked map[string]string
	entries := fields
	if entries == nil {
		entries = managedFields(live)
	} else {
		marked = owner.marked(live.GetKind(), live)
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
	taken, err := a.replaceManagedFields(ctx, live, fields, marked)
	if err != nil {
		return nil, fmt.Errorf("take over the fields of %w", err)
	}
	return taken, nil
}

// TakeOver takes over the fields of the owner's predecessors in memory, and marks the object. The Applier changes a
// live object in the same way before the first apply.
func TakeOver(kind string, object metav1.Object, owner Owner, manager string) error {
	taken, err := TakenOver(kind, object, owner, manager)
	if err != nil || taken == nil {
		return err
	}
	object.SetManagedFields(taken)
	if marked := owner.marked(kind, object); marked != nil {
		object.SetAnnotations(marked)
	}
	return nil
}

// TakenOver returns the managed fields of an object of the given kind after the manager has taken over the fields of
// the owner's predecessors. Nil means that there are no fields to take over, because the manager has applied the object
// since the predecessors were last active, or because no predecessor wrote the object.
func TakenOver(kind string, live metav1.Object, owner Owner, manager string) ([]metav1.ManagedFieldsEntry, error) {
	entries := managedFields(live)
	if i := indexApplied(entries, manager); i >= 0 {
		switch {
		case entries[i].Time.Before(&owner.PredecessorsUntil):
			entries[i].Time = owner.PredecessorsUntil.DeepCopy() // the takeover must happen only once
		case !owner.appliedAgain(entries) && !owner.replaced(kind, live):
			return nil, nil
		}
	}
	// The upgrade function supports only Update entries, so Apply entries are converted first.
	sources := sets.New[string]()
	for i, entry := range entries {
		if owner.follows(entry) {
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
		return nil, fmt.Errorf("take over the fields of %s %q: %w", kind, live.GetName(), err)
	}
	entries = upgraded.GetManagedFields()
	if kind != "PersistentVolumeClaim" {
		return entries, nil
	}
	return entries, keepMetadata(entries, manager)
}

// appliedAgain reports whether a predecessor applied fields that this program has not taken over. Only predecessors
// apply with the names in Predecessors.
func (o Owner) appliedAgain(entries []metav1.ManagedFieldsEntry) bool {
	return slices.ContainsFunc(entries, func(entry metav1.ManagedFieldsEntry) bool {
		return entry.Operation == metav1.ManagedFieldsOperationApply && o.follows(entry)
	})
}

// follows reports whether a predecessor wrote the fields of an entry.
func (o Owner) follows(entry metav1.ManagedFieldsEntry) bool {
	return entry.Subresource == "" && slices.ContainsFunc(o.Predecessors, func(one metav1.ManagedFieldsEntry) bool {
		return one.Manager == entry.Manager && one.Operation == entry.Operation
	})
}

// replaced reports whether another program removed the annotation in which this program records its apply.
func (o Owner) replaced(kind string, live metav1.Object) bool {
	return kind == o.Mark.Kind && live.GetAnnotations()[o.Mark.Annotation] == ""
}

// marked returns an object's annotations with the owner's mark added. Nil means that objects of the kind have no mark.
func (o Owner) marked(kind string, live metav1.Object) map[string]string {
	if kind != o.Mark.Kind {
		return nil
	}
	annotations := map[string]string{o.Mark.Annotation: o.Mark.Value}
	for key, value := range live.GetAnnotations() {
		if key != o.Mark.Annotation {
			annotations[key] = value
		}
	}
	return annotations
}

// keepMetadata gives up ownership of all fields except metadata. The spec of a claim is immutable, so the API server
// would reject the removal of a default that the predecessor stored.
func keepMetadata(entries []metav1.ManagedFieldsEntry, manager string) error {
	i := indexApplied(entries, manager)
	if i < 0 {
		return nil
	}
	set, err := decode(entries[i])
	if err != nil {
		return err
	}
	kept, _ := split(set, func(path fieldpath.Path) bool {
		return path[0].FieldName != nil &&
			*path[0].FieldName == "metadata"
	})
	return encode(&entries[i], kept)
}
