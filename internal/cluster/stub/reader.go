package stub

import (
	"cmp"
	"context"
	"fmt"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Reader reads whole objects from a cache with stubs. It reads an object from the API server if the cache holds only a
// stub of it. Lists may contain stubs.
type Reader struct {
	// The embedded Reader is the cache.
	client.Reader
	// Direct reads from the API server.
	Direct client.Reader
}

// TooLargeError is the error for a child that is so large that the work with it could exhaust the memory. A tenant can
// add entries to the children of a stack.
type TooLargeError struct{ kind, name string }

// Error describes the problem and its remedy.
func (e *TooLargeError) Error() string {
	return fmt.Sprintf("%s %q needs more than %d MiB of memory; remove the entries, labels and annotations that other programs added to it",
		e.kind, e.name, maxRead>>20)
}

// Get reads an object that is at least as new as the cached one. It reads an object that is too large, and returns a
// TooLargeError.
func (r Reader) Get(
	ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption,
) error {
	if err := r.Reader.Get(ctx, key, object, options...); err != nil || !Is(object) {
		return err
	}
	cached, kind := object.GetResourceVersion(), object.GetObjectKind().GroupVersionKind()
	reflect.ValueOf(object).Elem().SetZero() // the cache may own the maps in the stub
	object.GetObjectKind().SetGroupVersionKind(kind)
	err := r.Direct.Get(ctx, key, object, &client.GetOptions{Raw: &metav1.GetOptions{ResourceVersion: cached}})
	if err == nil && Exceeds(object, maxRead) {
		return &TooLargeError{cmp.Or(kind.Kind, reflect.TypeOf(object).Elem().Name()), key.Name}
	}
	return err
}
