package apply

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/share"
)

// lookupAll finds the live object of every wanted object. If the cache is not sufficient for some objects, lookupAll
// reads these objects concurrently from the API server. It reads an object of the kinds in unread only if another
// object exists: for a new owner, their creation fails if they exist, and the next lookup reads them.
func (a *Applier) lookupAll(ctx context.Context, owner Owner, wanted []*unstructured.Unstructured) ([]Desired, error) {
	objects := make([]Desired, len(wanted))
	versions := make([]version, len(wanted))
	var unknown, later []int
	for i, object := range wanted {
		desired, atLeast, known, err := a.lookup(ctx, owner, object)
		if err != nil {
			return nil, err
		}
		objects[i], versions[i] = desired, atLeast
		switch {
		case known:
		case atLeast == anyVersion && slices.Contains(unread, object.GetKind()):
			later = append(later, i)
		default:
			unknown = append(unknown, i)
		}
	}
	errs := make([]error, len(wanted))
	read := func(i int) { objects[i].Live, errs[i] = a.read(ctx, owner, wanted[i], versions[i]) }
	share.Parallel(unknown, read)
	if slices.ContainsFunc(objects, func(d Desired) bool { return d.Live != nil }) {
		share.Parallel(later, read)
	}
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return objects, nil
}

// unread lists the kinds of objects that are created before all others and that have no effect alone.
var unread = []string{"ServiceAccount"}

// version is the oldest acceptable version for a read: a resource version, or one of the constants below.
type version string

const (
	// newest means the version in the API server's store.
	newest version = ""
	// anyVersion accepts any version in the API server's cache, which may be slightly outdated. An outdated response that
	// the object does not exist is safe, because creating an existing object fails with a conflict.
	anyVersion version = "0"
)

// lookup reads the object from the cache. known reports whether the cache is sufficient. If not, the caller has to read
// the object from the API server, in a version that is not older than atLeast.
func (a *Applier) lookup(
	ctx context.Context, owner Owner, wanted *unstructured.Unstructured,
) (desired Desired, atLeast version, known bool, err error) {
	desired = Desired{Wanted: wanted}
	cached, err := a.cached(ctx, wanted)
	whole := !a.metadataOnly.Has(wanted.GroupVersionKind())
	switch {
	case err != nil:
		return desired, newest, false, err
	case cached == nil && a.answers.knows(owner.Key(), wanted):
		// The operator's cache and the API server's cache may both lack the operator's last write. If the read used one of
		// these caches, the operator might try to create an object that already exists, and the API server would reject the
		// request.
		return desired, newest, false, nil
	case cached == nil && whole:
		return desired, anyVersion, false, nil // the cache has a selector and lacks objects of other owners
	case cached == nil:
		return desired, newest, true, nil
	case a.answers.confirmed(owner.Key(), wanted, cached.GetUID(), cached.GetResourceVersion()):
		desired.Live, desired.confirmed = cached, true
		return desired, newest, true, nil
	case !whole:
		return desired, version(cached.GetResourceVersion()), false, nil
	}
	live, err := content(cached, wanted.GroupVersionKind())
	if err != nil {
		return desired, newest, false, err
	}
	desired.Live = live
	newer, err := a.answers.newer(owner.Key(), live)
	if newer != nil {
		desired.Live = newer
	}
	return desired, newest, err == nil, err
}

// read reads the object from the API server. It returns nil if the object does not exist, and only the metadata of an
// object that the cache lacks and the owner cannot have.
func (a *Applier) read(
	ctx context.Context, owner Owner, wanted *unstructured.Unstructured, atLeast version,
) (client.Object, error) {
	live := &unstructured.Unstructured{}
	if atLeast == anyVersion {
		metadata := &metav1.PartialObjectMetadata{}
		found, err := a.get(ctx, wanted, metadata, anyVersion)
		if found && !owner.owns(metadata) && !owner.Adopts(metadata) {
			metadata = &metav1.PartialObjectMetadata{}
			found, err = a.get(ctx, wanted, metadata, newest)
		}
		switch {
		case !found:
			return nil, err
		case !owner.owns(metadata) && !owner.Adopts(metadata):
			// As an unstructured object, the whole object can need a hundred megabytes.
			live.SetGroupVersionKind(wanted.GroupVersionKind())
			live.SetNamespace(metadata.Namespace)
			live.SetName(metadata.Name)
			live.SetUID(metadata.UID)
			live.SetLabels(metadata.Labels)
			live.SetOwnerReferences(metadata.OwnerReferences)
			return live, nil
		}
		atLeast = newest
	}
	if found, err := a.get(ctx, wanted, live, atLeast); !found {
		return nil, err
	}
	return live, nil
}

// get reads the object, or its metadata, into an empty object. It returns false if the object does not exist.
func (a *Applier) get(
	ctx context.Context, wanted *unstructured.Unstructured, into client.Object, atLeast version,
) (bool, error) {
	into.GetObjectKind().SetGroupVersionKind(wanted.GroupVersionKind())
	err := a.writer.Get(ctx, client.ObjectKeyFromObject(wanted), into,
		&client.GetOptions{Raw: &metav1.GetOptions{ResourceVersion: string(atLeast)}})
	if err == nil || apierrors.IsNotFound(err) {
		return err == nil, nil
	}
	return false, fmt.Errorf("read %s %q: %w", wanted.GetKind(), wanted.GetName(), err)
}

// cached returns the object from the cache, or nil if the cache does not contain it. Callers must not change it.
func (a *Applier) cached(ctx context.Context, wanted *unstructured.Unstructured) (client.Object, error) {
	gvk := wanted.GroupVersionKind()
	object, err := a.newObject(gvk)
	if err != nil {
		return nil, err
	}
	_, plain := object.(runtime.Unstructured) // content does not copy such an object
	err = a.cache.Get(ctx, client.ObjectKeyFromObject(wanted), object, client.UnsafeDisableDeepCopyOption(!plain))
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read cached %s %q: %w", gvk.Kind, wanted.GetName(), err)
	}
	return object, nil
}

func (a *Applier) newObject(kind schema.GroupVersionKind) (client.Object, error) {
	return newOf[client.Object](a, kind, kind, &metav1.PartialObjectMetadata{}, &unstructured.Unstructured{})
}

func (a *Applier) newList(kind schema.GroupVersionKind) (client.ObjectList, error) {
	list := kind.GroupVersion().WithKind(kind.Kind + "List")
	return newOf[client.ObjectList](a, kind, list, &metav1.PartialObjectMetadataList{}, &unstructured.UnstructuredList{})
}

// newOf returns an empty object or list of the Go type that the cache uses for the kind.
func newOf[T runtime.Object](a *Applier, kind, gvk schema.GroupVersionKind, metadata, plain T) (T, error) {
	switch {
	case a.metadataOnly.Has(kind):
		metadata.GetObjectKind().SetGroupVersionKind(gvk)
		return metadata, nil
	case !a.scheme.Recognizes(gvk):
		plain.GetObjectKind().SetGroupVersionKind(gvk)
		return plain, nil
	}
	object, err := a.scheme.New(gvk)
	if err != nil {
		return plain, fmt.Errorf("create an object of kind %s: %w", gvk.Kind, err)
	}
	typed, ok := object.(T)
	if !ok {
		return plain, fmt.Errorf("the scheme creates a %T for %s", object, gvk)
	}
	return typed, nil
}
