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

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/share"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/stub"
)

// Applied is an object that was applied.
type Applied struct {
	// Kind is the kind of the object.
	Kind schema.GroupVersionKind
	// Object is the current object, or only its metadata if only the metadata of its kind is cached. Do not change it.
	Object client.Object
	// Outcome is the effect of the apply.
	Outcome Outcome
}

// Content returns the object as an unstructured object.
func (a Applied) Content() (*unstructured.Unstructured, error) { return content(a.Object, a.Kind) }

// Set applies the desired objects in order and stops at the first one that the API server rejects. Set makes no call
// for objects that are already in force.
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

// Each applies the desired objects at the same time, because a busy API server responds late to each write. The results
// and the errors are in the order of the objects. The result of an object with an error is empty.
func (a *Applier) Each(ctx context.Context, owner Owner, objects []Desired) ([]Applied, []error) {
	result, errs := make([]Applied, len(objects)), make([]error, len(objects))
	all := make([]int, len(objects))
	for i := range all {
		all[i] = i
	}
	share.Parallel(all, func(i int) { result[i], errs[i] = a.set(ctx, owner, objects[i]) })
	return result, errs
}

// neverStored is a resource version that no object has, because revision 1 of the store is the revision of the empty
// store. An apply with this version creates an object, and fails with a conflict if the object exists.
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
	// An object that the operator has just created has no older version in the cache, so the response is not needed.
	// A long response is not kept either: it would remain until the next lookup, and a tenant can prevent that lookup.
	keep := desired.Live != nil && !a.metadataOnly.Has(kind) && !stub.Exceeds(answer, stub.MaxWhole)
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

// send applies an object and returns the API server's response. If the cache contains only the metadata of the objects
// of this kind, the response also contains only metadata, because the caller uses nothing else.
func (a *Applier) send(ctx context.Context, desired Desired) (client.Object, error) {
	wanted := *desired.Wanted
	wanted.Object = maps.Clone(wanted.Object)
	metadata, _ := wanted.Object["metadata"].(map[string]any)
	wanted.Object["metadata"] = maps.Clone(metadata)
	// Even without field validation, the API server rejects an apply that contains an unknown field. Field validation
	// would only add the detection of duplicate fields, and the API server would parse the object again.
	options := []client.PatchOption{client.FieldOwner(a.manager), client.FieldValidation(metav1.FieldValidationIgnore)}
	if desired.Live != nil {
		// With the UID, the apply fails with a conflict if the object has been replaced since the lookup.
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

// confirm stores the version of an object that is in force, if another check would require a read.
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
