package controller

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrlevent "sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

// exposedStack reports whether the spec asks for anything of the network: what may
// change with how stacks are exposed.
func exposedStack(stack *v1alpha2.LlamaStackDistribution) bool { return stack.Spec.Networking != nil }

// requeueExposed requeues the stacks that a kind coming or going concerns.
func (r *Reconciler) requeueExposed(into chan<- ctrlevent.GenericEvent) func(context.Context) {
	requeue := requeueBy(into)
	return func(ctx context.Context) {
		for _, request := range r.stacksWhere(ctx, exposedStack) {
			requeue(ctx, request.NamespacedName)
		}
	}
}

// requeueBy makes a function that requeues a stack, by an event on the channel.
func requeueBy(stacks chan<- ctrlevent.GenericEvent) func(context.Context, types.NamespacedName) {
	return func(ctx context.Context, stack types.NamespacedName) {
		object := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: stack.Namespace, Name: stack.Name}}
		select {
		case stacks <- ctrlevent.GenericEvent{Object: object}:
		case <-ctx.Done():
		}
	}
}
