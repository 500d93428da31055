package apply

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// Transfer applies fields of the desired object as another manager if the Applier's manager owns the field at the path.
// The next apply without that field then leaves its value unchanged, so that a third manager can take over the field.
// Transfer writes nothing if the Applier's manager does not own the field.
func (a *Applier) Transfer(
	ctx context.Context, desired Desired, manager string, fields runtime.ApplyConfiguration, path ...any,
) error {
	if desired.Live == nil {
		return nil
	}
	at, err := fieldpath.MakePath(path...)
	owned := ownedFields(desired.Live, desired.Wanted.GetAPIVersion(), a.manager)
	if err == nil && (owned == nil || !owned.Has(at)) {
		return nil
	}
	if err == nil {
		err = a.writer.Apply(ctx, fields, client.FieldOwner(manager), client.ForceOwnership)
	}
	if err != nil {
		return fmt.Errorf("hand over fields of %s %q: %w", desired.Wanted.GetKind(), desired.Live.GetName(), err)
	}
	return nil
}
