package controller

import (
	"context"
	"reflect"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/util/workqueue"
	ctrlevent "sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/operatorconfig"
)

// byBounds handles the deletion of a stack. It requeues the stacks in the same namespace that exceed the bounds.
func byBounds() handler.EventHandler {
	type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	return handler.Funcs{
		DeleteFunc: func(_ context.Context, e ctrlevent.DeleteEvent, q queue) {
			q.Add(group{kind: groupBounds}.request(e.Object.GetNamespace()))
		},
	}
}

// forbiddenByBounds reports whether the last reconcile found that the stack exceeds a bound.
func forbiddenByBounds(stack *v1alpha2.LlamaStackDistribution) bool {
	valid := meta.FindStatusCondition(stack.Status.Conditions, v1alpha2.ConditionValidationSucceeded)
	return valid != nil && valid.Reason == v1alpha2.ReasonForbiddenByBounds
}

// sameBounds reports whether a change to the operator's configuration leaves the bounds of a namespace unchanged,
// whatever its labels are.
func sameBounds(before, now operatorconfig.Config, namespace string) bool {
	return before.Unknown(operatorconfig.KeyBounds) == now.Unknown(operatorconfig.KeyBounds) &&
		reflect.DeepEqual(before.Bounds.Candidates(namespace), now.Bounds.Candidates(namespace))
}
