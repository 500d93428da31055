package apply

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// Transfer applies fields of the claimed object under another manager when we
// own the field at the path: the apply that leaves it out then leaves it as it
// is, for somebody else to take. It writes nothing when there is nothing of ours
// to hand over.
func (a *Applier) Transfer(ctx context.Context, claim Desired, manager string, fields runtime.ApplyConfiguration, path ...any) error {
	if claim.Live == nil {
		return nil
	}
	owned := ownedFields(claim.Live, claim.Wanted.GetAPIVersion(), a.manager)
	at, err := fieldpath.MakePath(path...)
	if err != nil {
		return fmt.Errorf("hand over fields of %s %q: %w", claim.Wanted.GetKind(), claim.Live.GetName(), err)
	}
	if owned == nil || !owned.Has(at) {
		return nil
	}
	err = a.writer.Apply(ctx, fields, client.FieldOwner(manager), client.ForceOwnership)
	if err != nil {
		return fmt.Errorf("hand over fields of %s %q: %w", claim.Wanted.GetKind(), claim.Live.GetName(), err)
	}
	return nil
}
