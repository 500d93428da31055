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

// Options configures an Applier. Every field is required.
type Options struct {
	// Writer writes objects, and reads them without caches.
	Writer client.Client
	// Cache holds the children. For the kinds in MetadataOnly, it holds only the metadata.
	Cache client.Reader
	// Scheme contains the kinds that the cache holds as Go types. The cache holds the objects of all other kinds as
	// unstructured objects.
	Scheme *runtime.Scheme
	// Manager is the field manager of every apply.
	Manager string
	// MetadataOnly lists the kinds for which only metadata is cached. The cache for these kinds has no selector, so
	// objects that are not in the cache do not exist or are new.
	MetadataOnly []schema.GroupVersionKind
}

// Applier applies and prunes the children of owners. It is safe for concurrent use with different owners.
type Applier struct {
	writer       client.Client
	cache        client.Reader
	scheme       *runtime.Scheme
	manager      string
	metadataOnly sets.Set[schema.GroupVersionKind]
	answers      *answers
}

// New returns an Applier.
func New(options Options) *Applier {
	return &Applier{
		writer: options.Writer, cache: options.Cache, scheme: options.Scheme, manager: options.Manager,
		metadataOnly: sets.New(options.MetadataOnly...),
		answers:      &answers{entries: map[types.NamespacedName]map[objectKey]entry{}},
	}
}

// Forget drops the stored responses for a deleted owner.
func (a *Applier) Forget(owner types.NamespacedName) { a.answers.forget(owner) }

// Outcome is the effect of an apply on an object.
type Outcome string

const (
	// Unchanged means that the Applier did not write the object, or that the apply changed nothing.
	Unchanged Outcome = "unchanged"
	// Created means that the object did not exist before the apply.
	Created Outcome = "created"
	// Configured means that the apply changed the object.
	Configured Outcome = "configured"
	// Adopted means that the object had no controller before the apply. Its controller is now the owner.
	Adopted Outcome = "adopted"
)

// Desired is an object that may be applied: it has no other owner, and the Applier has taken over the fields of
// predecessors.
type Desired struct {
	// Wanted is the object to apply. Callers may replace it with a different rendering of the object before they call
	// Set.
	Wanted *unstructured.Unstructured
	// Live is the object in the cluster, or nil if no such object was found. If it is nil, Set creates the object, and
	// fails with a conflict if the object exists. If the object is known to be in force, Live is the cached object. This
	// object contains only metadata if its kind is in MetadataOnly. Callers must not change it.
	Live client.Object

	confirmed bool
}

// CheckOwnership checks every object before it writes any of them. If the owner neither owns nor adopts an object, or
// if an immutable object has different data, CheckOwnership fails with *OwnershipConflict, joined if there are several,
// and writes nothing. Otherwise, it takes over the fields of predecessors.
func (a *Applier) CheckOwnership(
	ctx context.Context, owner Owner, wanted []*unstructured.Unstructured,
) ([]Desired, error) {
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

// refuse returns the reason why the object must not be applied, or nil if it may be applied.
func refuse(owner Owner, desired Desired) (refusal, err error) {
	if desired.Live == nil || desired.confirmed {
		return nil, nil
	}
	live, err := desired.content()
	if err != nil {
		return nil, err
	}
	conflict := newConflict(desired.Wanted.GroupVersionKind(), live)
	if !owner.owns(live) && !owner.Adopts(live) {
		return conflict, nil
	}
	if wanted := desired.Wanted.Object; wanted["immutable"] == true && // the data of an immutable object never changes
		(!equal(wanted["data"], live.Object["data"]) || !equal(wanted["binaryData"], live.Object["binaryData"])) {
		conflict.Differs = true
		return conflict, nil
	}
	return nil, nil
}

// content returns the content of the live object, for comparison with the wanted one.
func (c Desired) content() (*unstructured.Unstructured, error) {
	return content(c.Live, c.Wanted.GroupVersionKind())
}

// content returns an object as an unstructured object, or nil for nil.
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
