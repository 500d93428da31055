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

// pageSize is how many objects the API server reads, and converts, for one answer.
const pageSize = 500

// object is what is kept of an object between the list and its turn.
type object struct {
	name            types.NamespacedName
	resourceVersion string
}

// list lists all objects before the first is written: the token for the next page of a list lasts five minutes, and a
// rewrite of many objects takes longer. Who lists reads what is stored, not what a cache of the API server may still lack.
func (m *Migrator) list(ctx context.Context, of kind) ([]object, error) {
	pages := pager.New(func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		page := &metav1.PartialObjectMetadataList{}
		page.SetGroupVersionKind(of)
		return page, m.client.List(ctx, page, &client.ListOptions{Raw: &options, Limit: options.Limit, Continue: options.Continue})
	})
	pages.PageSize = pageSize
	var objects []object
	err := pages.EachListItem(ctx, metav1.ListOptions{}, func(item runtime.Object) error {
		found, ok := item.(client.Object)
		if !ok {
			return fmt.Errorf("an item of the list is a %T", item)
		}
		objects = append(objects, object{client.ObjectKeyFromObject(found), found.GetResourceVersion()})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list the objects in %s: %w", of.GroupVersion(), err)
	}
	return objects, nil
}

// rewrite has an object written as the API server would write it now, and reports whether that changed it. A patch that
// changes nothing does: the API server compares the bytes that it would store with those that it has stored, and the
// version is a part of them.
func (m *Migrator) rewrite(ctx context.Context, of kind, which object, options ...client.PatchOption) (bool, error) {
	target := &metav1.PartialObjectMetadata{}
	target.SetGroupVersionKind(of)
	target.Namespace, target.Name = which.name.Namespace, which.name.Name
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		return m.client.Patch(ctx, target, client.RawPatch(types.MergePatchType, []byte("{}")), options...)
	})
	return err == nil && target.ResourceVersion != which.resourceVersion, err
}

// unanswered reports whether the API server was not reached, or had no answer: because it, or a webhook that it asks, is
// away.
func unanswered(err error) bool {
	answer := apierrors.APIStatus(nil)
	if !errors.As(err, &answer) {
		return true
	}
	code := answer.Status().Code
	return code >= http.StatusInternalServerError || code == http.StatusTooManyRequests
}
