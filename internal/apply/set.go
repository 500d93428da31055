package apply

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Applied is an object after its apply.
type Applied struct {
	// Object as the server holds it. Of a kind whose content is not cached, only
	// metadata when nothing was written.
	Object *unstructured.Unstructured
	// Outcome says what happened to it.
	Outcome Outcome
}

// Set applies the claimed objects in their order and stops at the first that
// the server refuses. What is in force already costs no call.
func (a *Applier) Set(ctx context.Context, owner Owner, claims []Claim) ([]Applied, error) {
	result := make([]Applied, 0, len(claims))
	for _, claim := range claims {
		applied, err := a.set(ctx, owner, claim)
		if err != nil {
			return result, err
		}
		result = append(result, applied)
	}
	return result, nil
}

func (a *Applier) set(ctx context.Context, owner Owner, claim Claim) (Applied, error) {
	if claim.Live != nil && (claim.settled || InForce(claim.Wanted, claim.Live, a.manager)) {
		return Applied{Object: claim.Live, Outcome: Unchanged}, a.confirm(owner, claim)
	}
	// The client writes the server's answer into its argument.
	object := claim.Wanted.DeepCopy()
	options := []client.ApplyOption{client.FieldOwner(a.manager)}
	if claim.Live != nil {
		// Another object of that name, made since we looked, is a conflict.
		object.SetUID(claim.Live.GetUID())
		options = append(options, client.ForceOwnership)
	}
	err := a.writer.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), options...)
	if err != nil {
		return Applied{}, fmt.Errorf("apply %s %q: %w", object.GetKind(), object.GetName(), err)
	}
	if err := a.memory.remember(owner.Key(), claim.Wanted, object, !a.metadataOnly.Has(object.GroupVersionKind())); err != nil {
		return Applied{}, err
	}
	return Applied{Object: object, Outcome: outcome(claim, object)}, nil
}

// confirm remembers what was found in force where finding out costs a read.
func (a *Applier) confirm(owner Owner, claim Claim) error {
	if claim.settled || !a.metadataOnly.Has(claim.Wanted.GroupVersionKind()) {
		return nil
	}
	return a.memory.remember(owner.Key(), claim.Wanted, claim.Live, false)
}

func outcome(claim Claim, now *unstructured.Unstructured) Outcome {
	switch {
	case claim.Live == nil:
		return Created
	case metav1.GetControllerOfNoCopy(claim.Live) == nil && metav1.GetControllerOfNoCopy(now) != nil:
		return Adopted
	case claim.Live.GetResourceVersion() == now.GetResourceVersion():
		return Unchanged
	default:
		return Configured
	}
}
