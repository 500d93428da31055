package watch

import (
	"context"
	"slices"
	"strings"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlevent "sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/hostname"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/caches"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/queue"
)

// These are the kinds of the objects that a spec refers to.
const (
	kindSecret    = "Secret"
	kindConfigMap = "ConfigMap"
)

// byReference maps a Secret or ConfigMap to the group of stacks that refer to it.
func (s *Stacks) byReference(kind string) handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(_ context.Context, object client.Object) []reconcile.Request {
		if !s.References.used(kind, client.ObjectKeyFromObject(object)) {
			return nil
		}
		return []reconcile.Request{group{kind, object.GetName()}.request(object.GetNamespace())}
	})
}

// Children returns the handler for the events of children.
func Children() handler.EventHandler { return queue.ChildrenLast(byController()) }

// byController maps a child to the stack that controls it.
func byController() handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(_ context.Context, object client.Object) []reconcile.Request {
		owner := metav1.GetControllerOfNoCopy(object)
		if owner == nil || owner.Kind != v1alpha2.Kind ||
			!strings.HasPrefix(owner.APIVersion, v1alpha2.GroupVersion.Group+"/") {
			return nil
		}
		return requestsFor(object.GetNamespace(), owner.Name)
	})
}

// byInstance maps a pod or ReplicaSet to its stack by the label in the stack's selector.
func byInstance() handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(_ context.Context, object client.Object) []reconcile.Request {
		stack := object.GetLabels()[names.LabelInstance]
		if stack == "" {
			return nil
		}
		return requestsFor(object.GetNamespace(), stack)
	})
}

// byClaim maps an event about a problem with a claim to the stack that the claim belongs to.
func byClaim() handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(_ context.Context, object client.Object) []reconcile.Request {
		event, ok := object.(*corev1.Event)
		if !ok || !caches.IsTrouble(event) {
			return nil
		}
		stack, ok := strings.CutSuffix(event.InvolvedObject.Name, names.PersistentVolumeClaim(""))
		if !ok {
			return nil
		}
		return requestsFor(event.InvolvedObject.Namespace, stack)
	})
}

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

// ourChange selects changes to the generation, the annotations and the labels. It ignores changes to the status.
func ourChange() predicate.Predicate {
	return predicate.Or[client.Object](
		predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{}, predicate.LabelChangedPredicate{})
}

// statusLost detects that another client overwrote the status. A client with the original v1alpha1 types writes the
// whole status, without the fields that these types lack.
func statusLost() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e ctrlevent.UpdateEvent) bool {
		before, ok := e.ObjectOld.(*v1alpha2.LlamaStackDistribution)
		if !ok {
			return false
		}
		now, ok := e.ObjectNew.(*v1alpha2.LlamaStackDistribution)
		return ok && now.Status.ObservedGeneration < before.Status.ObservedGeneration
	}}
}

// ownersChanged detects changes to owner references, for example when a child loses the reference to its stack.
func ownersChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e ctrlevent.UpdateEvent) bool {
		return !equality.Semantic.DeepEqual(e.ObjectOld.GetOwnerReferences(), e.ObjectNew.GetOwnerReferences())
	}}
}

// autoscalerChanged compares the specs of an autoscaler to detect changes, because autoscalers have no generation. It
// also detects when an autoscaler starts or stops scaling.
func autoscalerChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e ctrlevent.UpdateEvent) bool {
		before, ok := e.ObjectOld.(*autoscalingv2.HorizontalPodAutoscaler)
		if !ok {
			return false
		}
		now, ok := e.ObjectNew.(*autoscalingv2.HorizontalPodAutoscaler)
		was, _ := status.AutoscalerTrouble(before)
		is, _ := status.AutoscalerTrouble(now)
		return ok && (was != is || !equality.Semantic.DeepEqual(before.Spec, now.Spec))
	}}
}

// hostnameSeparator separates the host names in the name of a group. No host name contains it.
const hostnameSeparator = ","

// byHostname requeues the stacks whose host name another stack starts or stops requesting or using.
func (s *Stacks) byHostname() handler.EventHandler {
	type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	requeue := func(q queue, object client.Object, hosts []string) {
		if len(hosts) > 0 {
			q.Add(group{groupHostnames, strings.Join(hosts, hostnameSeparator)}.request(object.GetNamespace()))
		}
	}
	return handler.Funcs{
		CreateFunc: func(_ context.Context, e ctrlevent.CreateEvent, q queue) { requeue(q, e.Object, s.Hosts.Of(e.Object)) },
		DeleteFunc: func(_ context.Context, e ctrlevent.DeleteEvent, q queue) { requeue(q, e.Object, s.Hosts.Of(e.Object)) },
		UpdateFunc: func(_ context.Context, e ctrlevent.UpdateEvent, q queue) {
			moved := routeOf(e.ObjectOld) != routeOf(e.ObjectNew) || forbidden(e.ObjectOld) != forbidden(e.ObjectNew)
			before, now := s.Hosts.Of(e.ObjectOld), s.Hosts.Of(e.ObjectNew)
			leaves := e.ObjectOld.GetDeletionTimestamp() == nil && e.ObjectNew.GetDeletionTimestamp() != nil
			if moved || leaves || !slices.Equal(before, now) {
				requeue(q, e.ObjectNew, slices.Compact(slices.Concat(before, now)))
			}
		},
	}
}

// routeOf returns the external URL of a stack.
func routeOf(object client.Object) string {
	if stack, ok := object.(*v1alpha2.LlamaStackDistribution); ok {
		return stack.Status.RouteURL
	}
	return ""
}

// forbidden reports whether the bounds forbid the present spec of a stack.
func forbidden(object client.Object) bool {
	stack, ok := object.(*v1alpha2.LlamaStackDistribution)
	return ok && hostname.Forbidden(stack)
}
