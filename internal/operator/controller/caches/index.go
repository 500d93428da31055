package caches

import (
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
)

const (
	// fieldInstance is the index of objects by the stack in their label.
	fieldInstance = "instance"
	// FieldClaim is the index of events by the name of the PersistentVolumeClaim that they are about.
	FieldClaim = "claim"
)

// Watched returns an object of every kind that the controller reads from its caches, with the Go type that it reads. It
// leaves out kinds that some clusters do not serve.
func Watched() []client.Object {
	watched := []client.Object{&v1alpha2.LlamaStackDistribution{}, &appsv1.ReplicaSet{}, &corev1.Pod{}, &corev1.Event{}}
	for _, kind := range render.ChildKinds() {
		switch {
		case kind.Definition != "":
		case kind.MetadataOnly:
			object := &metav1.PartialObjectMetadata{}
			object.SetGroupVersionKind(kind.GroupVersionKind)
			watched = append(watched, object)
		default:
			watched = append(watched, kind.New())
		}
	}
	return watched
}

// AddIndexes adds the indexes that the cache uses to find the objects of a stack without scanning all objects.
func AddIndexes(ctx context.Context, indexer client.FieldIndexer) error {
	for _, object := range Watched() {
		field, value := fieldInstance, instanceOf
		switch object.(type) {
		case *v1alpha2.LlamaStackDistribution: // see package hosts
			continue
		case *corev1.Event:
			field, value = FieldClaim, claimOf
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

// Indexed uses the index to list objects that are selected by the label of a stack.
type Indexed struct{ client.Reader }

// List reads objects.
func (c Indexed) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	asked := (&client.ListOptions{}).ApplyOptions(options)
	if asked.LabelSelector != nil {
		if stack, ok := asked.LabelSelector.RequiresExactMatch(names.LabelInstance); ok {
			options = append(slices.Clip(options), client.MatchingFields{fieldInstance: stack})
		}
	}
	return c.Reader.List(ctx, list, options...)
}

// IsTrouble reports whether an event about a claim is about a problem. Waiting for the first pod or for the provisioner
// is not a problem. FailedBinding is not a warning, but means that a claim has neither a volume nor a storage class.
func IsTrouble(event *corev1.Event) bool {
	return event.Type == corev1.EventTypeWarning || event.Reason == "FailedBinding"
}
