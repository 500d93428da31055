package apply

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// look finds every object as cheaply as can be: in the cache, and past it only
// where the cache does not tell. What has to be read is read at once.
func (a *Applier) look(ctx context.Context, owner Owner, wanted []*unstructured.Unstructured) ([]Desired, error) {
	claims := make([]Desired, len(wanted))
	versions := make([]version, len(wanted))
	var unknown []int
	for i, object := range wanted {
		claim, atLeast, known, err := a.glance(ctx, owner, object)
		if err != nil {
			return nil, err
		}
		if claims[i], versions[i] = claim, atLeast; !known {
			unknown = append(unknown, i)
		}
	}
	errs := make([]error, len(wanted))
	together(unknown, func(i int) { claims[i].Live, errs[i] = a.read(ctx, wanted[i], versions[i]) })
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return claims, nil
}

// version is the least that a read asks for: a resource version, or one of these.
type version string

const (
	// newest asks the store.
	newest version = ""
	// anyVersion is what the API server has at hand. It may be a moment old, which does
	// no harm as long as it says that there is no such object: to make one that is there
	// is a conflict.
	anyVersion version = "0"
)

// glance looks into the cache, and says whether that tells enough; if not, what is to
// be read.
func (a *Applier) glance(
	ctx context.Context, owner Owner, wanted *unstructured.Unstructured,
) (claim Desired, atLeast version, known bool, err error) {
	claim = Desired{Wanted: wanted}
	cached, err := a.cached(ctx, wanted)
	whole := !a.metadataOnly.Has(wanted.GroupVersionKind())
	switch {
	case err != nil:
		return claim, newest, false, err
	case cached == nil && a.memory.knows(owner.Key(), wanted):
		// The cache may be behind our own write, and what the API server has at hand, too: to
		// make the object once more would be refused.
		return claim, newest, false, nil
	case cached == nil && whole:
		return claim, anyVersion, false, nil // the cache is selective: somebody else's is not in it
	case cached == nil:
		return claim, newest, true, nil
	case a.memory.settled(owner.Key(), wanted, cached.GetUID(), cached.GetResourceVersion()):
		claim.Live, claim.settled = cached, true
		return claim, newest, true, nil
	case !whole:
		return claim, version(cached.GetResourceVersion()), false, nil
	}
	live, err := content(cached, wanted.GroupVersionKind())
	if err != nil {
		return claim, newest, false, err
	}
	claim.Live = live
	newer, err := a.memory.newer(owner.Key(), live)
	if newer != nil {
		claim.Live = newer
	}
	return claim, newest, err == nil, err
}

// read gets the object past the cache, nil when there is none.
func (a *Applier) read(ctx context.Context, wanted *unstructured.Unstructured, atLeast version) (client.Object, error) {
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(wanted.GroupVersionKind())
	err := a.writer.Get(ctx, client.ObjectKeyFromObject(wanted), live,
		&client.GetOptions{Raw: &metav1.GetOptions{ResourceVersion: string(atLeast)}})
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read %s %q: %w", wanted.GetKind(), wanted.GetName(), err)
	case atLeast == anyVersion:
		return a.read(ctx, wanted, newest)
	}
	return live, nil
}

// together does something for all at once. A panic becomes the caller's, who knows
// what to do with it: in a goroutine of its own it would end the program.
func together(all []int, do func(int)) {
	var group sync.WaitGroup
	panics := make([]any, len(all))
	for i, one := range all {
		group.Go(func() {
			defer func() {
				if cause := recover(); cause != nil {
					panics[i] = fmt.Errorf("panic: %v\n%s", cause, debug.Stack())
				}
			}()
			do(one)
		})
	}
	group.Wait()
	for _, cause := range panics {
		if cause != nil {
			panic(cause)
		}
	}
}

// cached is the object in the cache, not to be changed; nil when it is not there.
func (a *Applier) cached(ctx context.Context, wanted *unstructured.Unstructured) (client.Object, error) {
	gvk := wanted.GroupVersionKind()
	object, err := a.newObject(gvk)
	if err != nil {
		return nil, err
	}
	_, plain := object.(runtime.Unstructured) // content does not copy it
	err = a.cache.Get(ctx, client.ObjectKeyFromObject(wanted), object, client.UnsafeDisableDeepCopyOption(!plain))
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read cached %s %q: %w", gvk.Kind, wanted.GetName(), err)
	}
	return object, nil
}

func (a *Applier) newObject(gvk schema.GroupVersionKind) (client.Object, error) {
	if a.metadataOnly.Has(gvk) {
		object := &metav1.PartialObjectMetadata{}
		object.SetGroupVersionKind(gvk)
		return object, nil
	}
	if !a.scheme.Recognizes(gvk) {
		object := &unstructured.Unstructured{}
		object.SetGroupVersionKind(gvk)
		return object, nil
	}
	object, err := a.scheme.New(gvk)
	if err != nil {
		return nil, fmt.Errorf("make a %s: %w", gvk.Kind, err)
	}
	typed, ok := object.(client.Object)
	if !ok {
		return nil, fmt.Errorf("%s is no object", gvk)
	}
	return typed, nil
}
