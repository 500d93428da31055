package apply

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Child identifies one child of an owner.
type Child struct {
	Kind schema.GroupVersionKind
	Name string
}

// Prune deletes the owner's children of the given kinds for which `keep` returns false. It calls `keep` for children
// only. A child has the owner's labels and has the owner as its controller. Neither is sufficient alone: a widely used
// dashboard also sets the controller of its own objects to the owner, and any client can set labels. Prune never
// deletes a PersistentVolumeClaim.
func (a *Applier) Prune(
	ctx context.Context, owner Owner, kinds []schema.GroupVersionKind, keep func(Child) bool,
) error {
	for _, kind := range kinds {
		if kind.Kind == "PersistentVolumeClaim" {
			continue
		}
		children, err := a.children(ctx, owner, kind)
		if err != nil {
			return err
		}
		for _, object := range children {
			child := Child{Kind: kind, Name: object.GetName()}
			if !owner.owns(object) || object.GetDeletionTimestamp() != nil || keep(child) {
				continue
			}
			if err := a.remove(ctx, object); err != nil {
				return fmt.Errorf("delete %s %q: %w", kind.Kind, child.Name, err)
			}
			a.answers.remove(owner.Key(), objectKey{gvk: kind, name: child.Name})
		}
	}
	return nil
}

func (a *Applier) remove(ctx context.Context, object client.Object) error {
	uid := object.GetUID()
	err := a.writer.Delete(ctx, object,
		client.Preconditions{UID: &uid}, client.PropagationPolicy(metav1.DeletePropagationBackground))
	return client.IgnoreNotFound(err)
}

// children lists the owner's labeled objects of one kind from the cache.
func (a *Applier) children(ctx context.Context, owner Owner, kind schema.GroupVersionKind) ([]client.Object, error) {
	list, err := a.newList(kind)
	if err != nil {
		return nil, err
	}
	if err := a.cache.List(ctx, list, client.InNamespace(owner.Namespace),
		client.MatchingLabels(owner.Labels)); err != nil {
		return nil, fmt.Errorf("list %s: %w", kind.Kind, err)
	}
	var children []client.Object
	err = meta.EachListItem(list, func(item runtime.Object) error {
		object, ok := item.(client.Object)
		if !ok {
			return fmt.Errorf("list %s: %T is not an object", kind.Kind, item)
		}
		children = append(children, object)
		return nil
	})
	return children, err
}
