package controller

import (
	"context"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlevent "sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/bounds"
	"github.com/llamastack/llama-stack-k8s-operator/internal/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operatorconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/plan"
)

// bounds holds a stack to what an administrator lets its namespace use, before anything is read for it. A stack that is
// beyond a bound keeps its pods as they are.
func (r *Reconciler) bounds(ctx context.Context, s *state) error {
	config, err := r.configFor(ctx, s)
	if err != nil {
		return err
	}
	if config.Unknown(operatorconfig.KeyBounds) {
		return invalid(v1alpha2.ReasonForbiddenByBounds, fmt.Sprintf(
			"The key %q of the operator's ConfigMap cannot be read, so nobody knows what this stack may use: an administrator has to correct it",
			operatorconfig.KeyBounds))
	}
	rule := config.Bounds.For(s.object.Namespace)
	if rule == nil {
		return nil
	}
	if errs := plan.Bounded(rule, s.object, s.distribution.Image); len(errs) > 0 {
		return invalid(v1alpha2.ReasonForbiddenByBounds, intent.Messages(errs))
	}
	return r.stacksBounded(ctx, s, rule)
}

// stacksBounded counts the stacks of the namespace that are older than this one.
func (r *Reconciler) stacksBounded(ctx context.Context, s *state, rule *bounds.Rule) error {
	if rule.Stacks == nil {
		return nil
	}
	var stacks v1alpha2.LlamaStackDistributionList
	if err := r.cache.List(ctx, &stacks, client.InNamespace(s.object.Namespace), client.UnsafeDisableDeepCopy); err != nil { // only read
		return fmt.Errorf("list the stacks of namespace %q: %w", s.object.Namespace, err)
	}
	older := 0
	for i := range stacks.Items {
		if olderThan(&stacks.Items[i], s.object) {
			older++
		}
	}
	if older < *rule.Stacks {
		return nil
	}
	return invalid(v1alpha2.ReasonForbiddenByBounds, fmt.Sprintf(
		"Namespace %q may have %s, and older ones take that place: delete one of them, or ask an administrator to change the key %q of the operator's ConfigMap",
		s.object.Namespace, count(*rule.Stacks, "stack"), operatorconfig.KeyBounds))
}

// olderThan reports whether a stack goes before another one. Names decide between those of the same second.
func olderThan(a, b *v1alpha2.LlamaStackDistribution) bool {
	if a.CreationTimestamp.Equal(&b.CreationTimestamp) {
		return a.Name < b.Name
	}
	return a.CreationTimestamp.Before(&b.CreationTimestamp)
}

// byBounds requeues the stacks that wait for the place of one that is gone.
func (r *Reconciler) byBounds() handler.EventHandler {
	type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	return handler.Funcs{
		DeleteFunc: func(ctx context.Context, e ctrlevent.DeleteEvent, q queue) {
			var stacks v1alpha2.LlamaStackDistributionList
			if err := r.cache.List(ctx, &stacks, client.InNamespace(e.Object.GetNamespace()), client.UnsafeDisableDeepCopy); err != nil {
				log.FromContext(ctx).V(1).Info("Stacks cannot be listed yet", "error", err.Error())
				return
			}
			for i := range stacks.Items {
				if stack := &stacks.Items[i]; forbiddenByBounds(stack) {
					q.Add(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(stack)})
				}
			}
		},
	}
}

// forbiddenByBounds reports whether the stack's status says that it is beyond a bound.
func forbiddenByBounds(stack *v1alpha2.LlamaStackDistribution) bool {
	valid := meta.FindStatusCondition(stack.Status.Conditions, v1alpha2.ConditionValidationSucceeded)
	return valid != nil && valid.Reason == v1alpha2.ReasonForbiddenByBounds
}

// sameBounds reports whether a change of the operator's configuration leaves the bounds of a namespace as they were.
func sameBounds(before, now operatorconfig.Config, namespace string) bool {
	return before.Unknown(operatorconfig.KeyBounds) == now.Unknown(operatorconfig.KeyBounds) &&
		reflect.DeepEqual(before.Bounds.For(namespace), now.Bounds.For(namespace))
}
