package migration

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/pager"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// pageSize is the maximum number of objects that the API server returns in one response.
const pageSize = 500

// object identifies an object and its version.
type object struct {
	name            types.NamespacedName
	resourceVersion string
}

// list lists all objects. Run lists all objects before it writes the first one, because the token for the next page of
// a list expires after five minutes, and the writes may take longer. The API server reads the list from its storage,
// because its cache may be outdated.
func (m *Migrator) list(ctx context.Context, of kind) ([]object, error) {
	pages := pager.New(func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		page := &metav1.PartialObjectMetadataList{}
		page.SetGroupVersionKind(of)
		return page, m.client.List(ctx, page, &client.ListOptions{
			Raw: &options, Limit: options.Limit,
			Continue: options.Continue,
		})
	})
	pages.PageSize = pageSize
	var objects []object
	err := pages.EachListItem(ctx, metav1.ListOptions{}, func(item runtime.Object) error {
		found, ok := item.(client.Object)
		if !ok {
			return fmt.Errorf("a list item has the type %T", item)
		}
		objects = append(objects, object{client.ObjectKeyFromObject(found), found.GetResourceVersion()})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list the objects in %s: %w", of.GroupVersion(), err)
	}
	return objects, nil
}

// rewrite sends an empty patch, and reports whether it changed the stored object. The API server writes the object if
// the bytes to store, which include the version, differ from the stored bytes.
func (m *Migrator) rewrite(ctx context.Context, of kind, which object, options ...client.PatchOption) (bool, error) {
	target := &metav1.PartialObjectMetadata{}
	target.SetGroupVersionKind(of)
	target.Namespace, target.Name = which.name.Namespace, which.name.Name
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		return m.client.Patch(ctx, target, client.RawPatch(types.MergePatchType, []byte("{}")), options...)
	})
	return err == nil && target.ResourceVersion != which.resourceVersion, err
}

// unanswered reports whether an error means that the API server, or a webhook that it calls, is unavailable.
func unanswered(err error) bool {
	answer := apierrors.APIStatus(nil)
	if !errors.As(err, &answer) {
		return true
	}
	code := answer.Status().Code
	return code >= http.StatusInternalServerError || code == http.StatusTooManyRequests
}
