package controller

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
)

const (
	// fieldInstance is the stack that an object belongs to by its label.
	fieldInstance = "instance"
	// fieldClaim is the claim that an event is about.
	fieldClaim = "claim"
)

// addIndexes lets the caches find what belongs to a stack without looking at what
// belongs to all others.
func addIndexes(ctx context.Context, indexer client.FieldIndexer) error {
	for _, object := range Watched() {
		field, value := fieldInstance, instanceOf
		switch object.(type) {
		case *v1alpha2.LlamaStackDistribution: // found by its name
			continue
		case *corev1.Event:
			field, value = fieldClaim, claimOf
		}
		if err := indexer.IndexField(ctx, object, field, value); err != nil {
			return fmt.Errorf("index %T by %s: %w", object, field, err)
		}
	}
	return nil
}

func instanceOf(object client.Object) []string {
	if stack := object.GetLabels()[names.LabelInstance]; stack != "" {
		return []string{stack}
	}
	return nil
}

func claimOf(object client.Object) []string {
	event, ok := object.(*corev1.Event)
	if !ok {
		return nil
	}
	return []string{event.InvolvedObject.Name}
}

// indexedCache lists a stack's objects by the index when they are asked for by its
// label.
type indexedCache struct{ client.Reader }

// List reads objects.
func (c indexedCache) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	asked := (&client.ListOptions{}).ApplyOptions(options)
	if asked.LabelSelector != nil {
		if stack, ok := asked.LabelSelector.RequiresExactMatch(names.LabelInstance); ok {
			options = append(slices.Clip(options), client.MatchingFields{fieldInstance: stack})
		}
	}
	return c.Reader.List(ctx, list, options...)
}
