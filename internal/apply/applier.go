package apply

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Options of an Applier. Every field is required.
type Options struct {
	// Writer writes, and reads past every cache.
	Writer client.Client
	// Cache holds the children, those of MetadataOnly as metadata.
	Cache client.Reader
	// Scheme knows the kinds that the cache holds as their types; any other is
	// cached unstructured.
	Scheme *runtime.Scheme
	// Manager is the field manager of every apply.
	Manager string
	// MetadataOnly are the kinds whose content is not cached. Their cache selects
	// nothing: what is not in it is not there, or was made just now.
	MetadataOnly []schema.GroupVersionKind
}

// Applier applies and prunes the children of owners. Safe for concurrent use by
// different owners.
type Applier struct {
	writer       client.Client
	cache        client.Reader
	scheme       *runtime.Scheme
	manager      string
	metadataOnly sets.Set[schema.GroupVersionKind]
	answers      *answers
}

// New makes an Applier.
func New(options Options) *Applier {
	return &Applier{
		writer: options.Writer, cache: options.Cache, scheme: options.Scheme, manager: options.Manager,
		metadataOnly: sets.New(options.MetadataOnly...), answers: newAnswers(),
	}
}

// Forget drops what is remembered of an owner that is gone.
func (a *Applier) Forget(owner types.NamespacedName) { a.answers.forget(owner) }

// Outcome says what an apply did to an object.
type Outcome string

const (
	// Unchanged: nothing was written.
	Unchanged Outcome = "unchanged"
	// Created: there was none.
	Created Outcome = "created"
	// Configured: it differed.
	Configured Outcome = "configured"
	// Adopted: it had no controller, now it has.
	Adopted Outcome = "adopted"
)

// Desired is an object that may be applied: nobody else's, and no field in it
// still belongs to a predecessor.
type Desired struct {
	// Wanted is what shall be applied. May be replaced before Set by another
	// rendering of the same object.
	Wanted *unstructured.Unstructured
	// Live is the object in the cluster, nil when none is known: Set then makes one,
	// and fails with a conflict when there is one after all. One that is known to
	// be in force is as the cache holds it, which may be metadata only, and is not
	// to be changed.
	Live client.Object

	confirmed bool
}

// CheckOwnership looks at every object before anything is written to one: it fails with
// *OwnershipConflict or *NameTaken (joined, when there are several) and leaves
// everything as it was, or takes over what predecessors wrote.
func (a *Applier) CheckOwnership(ctx context.Context, owner Owner, wanted []*unstructured.Unstructured) ([]Desired, error) {
	objects, err := a.lookupAll(ctx, owner, wanted)
	if err != nil {
		return nil, err
	}
	var refused []error
	for _, desired := range objects {
		refusal, err := refuse(owner, desired)
		if err != nil {
			return nil, err
		}
		if refusal != nil {
			refused = append(refused, refusal)
		}
	}
	if err := errors.Join(refused...); err != nil {
		return nil, err
	}
	for i, desired := range objects {
		if desired.Live == nil || desired.confirmed {
			continue
		}
		live, err := desired.content()
		if err == nil {
			objects[i].Live, err = a.migrateFieldOwnership(ctx, owner, desired.Wanted, live)
		}
		if err != nil {
			return nil, err
		}
	}
	return objects, nil
}

// refuse gives the reason why the object may not be applied, nil when it may.
func refuse(owner Owner, desired Desired) (refusal, err error) {
	if desired.Live == nil || desired.confirmed {
		return nil, nil
	}
	live, err := desired.content()
	if err != nil {
		return nil, err
	}
	ours := owner.owns(live) || owner.Adopts(live)
	immutable := desired.Wanted.Object["immutable"] == true
	switch {
	case immutable && (!ours || !sameContent(desired.Wanted, live)):
		return &NameTaken{Kind: desired.Wanted.GetKind(), Name: desired.Wanted.GetName()}, nil
	case !ours:
		return newConflict(desired.Wanted.GroupVersionKind(), live), nil
	default:
		return nil, nil
	}
}

// content is the live object for who compares it with what is wanted.
func (c Desired) content() (*unstructured.Unstructured, error) {
	return content(c.Live, c.Wanted.GroupVersionKind())
}

// content is an object without its type, nil when there is none.
func content(object client.Object, kind schema.GroupVersionKind) (*unstructured.Unstructured, error) {
	if object == nil {
		return nil, nil
	}
	if plain, ok := object.(*unstructured.Unstructured); ok {
		return plain, nil
	}
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return nil, fmt.Errorf("convert %s %q: %w", kind.Kind, object.GetName(), err)
	}
	plain := &unstructured.Unstructured{Object: fields}
	plain.SetGroupVersionKind(kind)
	return plain, nil
}

// sameContent compares what an immutable object can never change.
func sameContent(wanted, live *unstructured.Unstructured) bool {
	return equal(wanted.Object["data"], live.Object["data"]) && equal(wanted.Object["binaryData"], live.Object["binaryData"])
}
