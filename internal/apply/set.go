package apply

import (
	"context"
	"fmt"
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Applied is an object after its apply.
type Applied struct {
	// Kind of the object.
	Kind schema.GroupVersionKind
	// Object as the server holds it, not to be changed; of a kind whose content is not
	// cached, its metadata.
	Object client.Object
	// Outcome says what happened to it.
	Outcome Outcome
}

// Content is the object without its type.
func (a Applied) Content() (*unstructured.Unstructured, error) { return content(a.Object, a.Kind) }

// Set applies the desired objects in their order and stops at the first that
// the server refuses. What is in force already costs no call.
func (a *Applier) Set(ctx context.Context, owner Owner, objects []Desired) ([]Applied, error) {
	result := make([]Applied, 0, len(objects))
	for _, desired := range objects {
		applied, err := a.set(ctx, owner, desired)
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

func (a *Applier) set(ctx context.Context, owner Owner, desired Desired) (Applied, error) {
	kind := desired.Wanted.GroupVersionKind()
	inForce, err := a.inForce(desired)
	if err != nil {
		return Applied{}, err
	}
	if inForce {
		a.confirm(owner, desired)
		return Applied{Kind: kind, Object: desired.Live, Outcome: Unchanged}, nil
	}
	answer, err := a.send(ctx, desired)
	if err != nil {
		a.answers.markUncertain(owner.Key(), desired.Wanted)
		return Applied{}, fmt.Errorf("apply %s %q: %w", kind.Kind, desired.Wanted.GetName(), err)
	}
	// Of an object that we made the cache shows nothing older.
	keep := desired.Live != nil && !a.metadataOnly.Has(kind)
	a.answers.remember(owner.Key(), desired.Wanted, answer, keep)
	return Applied{Kind: kind, Object: answer, Outcome: outcome(desired, answer)}, nil
}

func (a *Applier) inForce(desired Desired) (bool, error) {
	if desired.Live == nil || desired.confirmed {
		return desired.confirmed, nil
	}
	live, err := desired.content()
	return err == nil && InForce(desired.Wanted, live, a.manager), err
}

// send applies an object and gives the server's answer. Of a kind whose content is not
// cached that is metadata: the content would only be thrown away.
func (a *Applier) send(ctx context.Context, desired Desired) (client.Object, error) {
	wanted := *desired.Wanted
	wanted.Object = maps.Clone(wanted.Object)
	metadata, _ := wanted.Object["metadata"].(map[string]any)
	wanted.Object["metadata"] = maps.Clone(metadata)
	// An apply is refused for a field that the server does not know in any case. What it
	// would read everything once more for is a field that is given twice.
	options := []client.PatchOption{client.FieldOwner(a.manager), client.FieldValidation(metav1.FieldValidationIgnore)}
	if desired.Live != nil {
		// Another object of that name, made since we looked, is a conflict.
		wanted.SetUID(desired.Live.GetUID())
		options = append(options, client.ForceOwnership)
	} else {
		wanted.SetResourceVersion(neverStored)
	}
	data, err := wanted.MarshalJSON()
	if err != nil {
		return nil, err
	}
	kind := wanted.GroupVersionKind()
	answer, err := a.newObject(kind)
	if err != nil {
		return nil, err
	}
	answer.SetNamespace(wanted.GetNamespace())
	answer.SetName(wanted.GetName())
	if err := a.writer.Patch(ctx, answer, client.RawPatch(types.ApplyPatchType, data), options...); err != nil {
		return nil, err
	}
	answer.GetObjectKind().SetGroupVersionKind(kind)
	return answer, nil
}

// confirm remembers what was found in force where finding out costs a read.
func (a *Applier) confirm(owner Owner, desired Desired) {
	if desired.confirmed || !a.metadataOnly.Has(desired.Wanted.GroupVersionKind()) {
		return
	}
	a.answers.remember(owner.Key(), desired.Wanted, desired.Live, false)
}

func outcome(desired Desired, now client.Object) Outcome {
	switch {
	case desired.Live == nil:
		return Created
	case metav1.GetControllerOfNoCopy(desired.Live) == nil && metav1.GetControllerOfNoCopy(now) != nil:
		return Adopted
	case desired.Live.GetResourceVersion() == now.GetResourceVersion():
		return Unchanged
	default:
		return Configured
	}
}
