package apply

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Applied is an object after its apply.
type Applied struct {
	// Object as the server holds it; of a kind whose content is not cached, its
	// metadata.
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

// neverStored is a version that no object has: the store counts its own making as
// the first change. An apply that asks for it makes an object, and is a conflict
// where there is one.
const neverStored = "1"

func (a *Applier) set(ctx context.Context, owner Owner, claim Claim) (Applied, error) {
	if claim.Live != nil && (claim.settled || InForce(claim.Wanted, claim.Live, a.manager)) {
		return Applied{Object: claim.Live, Outcome: Unchanged}, a.confirm(owner, claim)
	}
	// The client writes the server's answer into its argument.
	object := claim.Wanted.DeepCopy()
	there := claim.Live != nil
	if there {
		// Another object of that name, made since we looked, is a conflict.
		object.SetUID(claim.Live.GetUID())
	} else {
		object.SetResourceVersion(neverStored)
	}
	if err := a.send(ctx, object, there); err != nil {
		a.memory.doubt(owner.Key(), claim.Wanted)
		return Applied{}, fmt.Errorf("apply %s %q: %w", object.GetKind(), object.GetName(), err)
	}
	// Of an object that we made the cache shows nothing older.
	keep := there && !a.metadataOnly.Has(object.GroupVersionKind())
	if err := a.memory.remember(owner.Key(), claim.Wanted, object, keep); err != nil {
		return Applied{}, err
	}
	return Applied{Object: object, Outcome: outcome(claim, object)}, nil
}

// send applies an object and fills in the server's answer. Of a kind whose content
// is not cached that is metadata: the content would only be thrown away.
func (a *Applier) send(ctx context.Context, object *unstructured.Unstructured, force bool) error {
	if !a.metadataOnly.Has(object.GroupVersionKind()) {
		options := []client.ApplyOption{client.FieldOwner(a.manager)}
		if force {
			options = append(options, client.ForceOwnership)
		}
		return a.writer.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), options...)
	}
	data, err := object.MarshalJSON()
	if err != nil {
		return err
	}
	answer := &metav1.PartialObjectMetadata{}
	answer.SetGroupVersionKind(object.GroupVersionKind())
	answer.SetNamespace(object.GetNamespace())
	answer.SetName(object.GetName())
	options := []client.PatchOption{client.FieldOwner(a.manager)}
	if force {
		options = append(options, client.ForceOwnership)
	}
	if err := a.writer.Patch(ctx, answer, client.RawPatch(types.ApplyPatchType, data), options...); err != nil {
		return err
	}
	object.Object, err = runtime.DefaultUnstructuredConverter.ToUnstructured(answer)
	return err
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
