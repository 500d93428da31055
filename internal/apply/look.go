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
func (a *Applier) look(ctx context.Context, owner Owner, wanted []*unstructured.Unstructured) ([]Claim, error) {
	claims := make([]Claim, len(wanted))
	var unknown []int
	for i, object := range wanted {
		claim, known, err := a.glance(ctx, owner, object)
		if err != nil {
			return nil, err
		}
		if claims[i] = claim; !known {
			unknown = append(unknown, i)
		}
	}
	errs := make([]error, len(wanted))
	together(unknown, func(i int) { claims[i].Live, errs[i] = a.read(ctx, wanted[i]) })
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return claims, nil
}

// glance looks into the cache, and says whether that tells enough.
func (a *Applier) glance(ctx context.Context, owner Owner, wanted *unstructured.Unstructured) (claim Claim, known bool, err error) {
	claim = Claim{Wanted: wanted}
	cached, err := a.cached(ctx, wanted)
	whole := !a.metadataOnly.Has(wanted.GroupVersionKind())
	switch {
	case err != nil:
		return claim, false, err
	case cached == nil && whole:
		return claim, false, nil // the cache is selective: somebody else's is not in it
	case cached == nil:
		// Unless the cache may be behind our own write, which would be tried again in vain.
		return claim, !a.memory.knows(owner.Key(), wanted), nil
	case a.memory.settled(owner.Key(), wanted, cached.GetUID(), cached.GetResourceVersion()):
		claim.Live, claim.settled = cached, true
		return claim, true, nil
	case !whole:
		return claim, false, nil
	}
	claim.Live = cached
	if newer := a.memory.newer(owner.Key(), cached); newer != nil {
		claim.Live = newer
	}
	return claim, true, nil
}

// read gets the object past the cache, nil when there is none.
func (a *Applier) read(ctx context.Context, wanted *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(wanted.GroupVersionKind())
	err := a.writer.Get(ctx, client.ObjectKeyFromObject(wanted), live)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s %q: %w", wanted.GetKind(), wanted.GetName(), err)
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

// cached is the object in the cache, nil when it is not there.
func (a *Applier) cached(ctx context.Context, wanted *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	gvk := wanted.GroupVersionKind()
	object, err := a.newObject(gvk)
	if err != nil {
		return nil, err
	}
	_, same := object.(runtime.Unstructured) // else it is copied below
	err = a.cache.Get(ctx, client.ObjectKeyFromObject(wanted), object, client.UnsafeDisableDeepCopyOption(!same))
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read cached %s %q: %w", gvk.Kind, wanted.GetName(), err)
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return nil, fmt.Errorf("convert %s %q: %w", gvk.Kind, wanted.GetName(), err)
	}
	cached := &unstructured.Unstructured{Object: content}
	cached.SetGroupVersionKind(gvk)
	return cached, nil
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
