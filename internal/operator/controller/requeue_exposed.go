package controller

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrlevent "sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

// exposedStack reports whether the spec has network settings. If so, a change to the exposure settings may affect the
// stack.
func exposedStack(stack *v1alpha2.LlamaStackDistribution) bool { return stack.Spec.Networking != nil }

// requeueExposed returns a function that requeues the stacks that the addition or removal of a kind may affect.
func (r *Reconciler) requeueExposed(into chan<- ctrlevent.GenericEvent) func(context.Context) {
	requeue := requeueBy(into)
	return func(ctx context.Context) {
		for _, request := range r.stacksWhere(ctx, exposedStack) {
			requeue(ctx, request.NamespacedName)
		}
	}
}

// requeueBy returns a function that requeues a stack by sending an event to the channel.
func requeueBy(stacks chan<- ctrlevent.GenericEvent) func(context.Context, types.NamespacedName) {
	return func(ctx context.Context, stack types.NamespacedName) {
		object := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: stack.Namespace, Name: stack.Name}}
		select {
		case stacks <- ctrlevent.GenericEvent{Object: object}:
		case <-ctx.Done():
		}
	}
}
