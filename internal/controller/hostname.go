package controller

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlevent "sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/status"
)

// findRival looks for a stack that has the same host name and goes before this
// one, which is then not exposed: traffic is not taken from whoever has it.
func (r *Reconciler) findRival(ctx context.Context, s *state) error {
	s.rival = nil
	host := plan.Hostname(s.object, s.cluster, s.earlierHost)
	if host == "" {
		return nil
	}
	stacks, err := r.stacksOf(ctx, host, s.cluster)
	if err != nil {
		return err
	}
	first := s.object
	for _, other := range stacks {
		if other.UID != s.object.UID && other.DeletionTimestamp == nil && goesBefore(other, first, host) {
			first = other
		}
	}
	if first != s.object {
		s.rival = &rival{host: host, namespace: first.Namespace, name: first.Name}
	}
	return nil
}

// stacksOf are the cached stacks that ask for a host name, not to be changed.
func (r *Reconciler) stacksOf(ctx context.Context, host string, cluster render.Cluster) ([]*v1alpha2.LlamaStackDistribution, error) {
	var found []*v1alpha2.LlamaStackDistribution
	for _, value := range hostsIn(host, cmp.Or(cluster.Ingress.Domain, names.DefaultDomain)) {
		var stacks v1alpha2.LlamaStackDistributionList
		if err := r.cache.List(ctx, &stacks, client.MatchingFields{fieldHost: value}, client.UnsafeDisableDeepCopy); err != nil {
			return nil, fmt.Errorf("list cached stacks of host name %q: %w", host, err)
		}
		for i := range stacks.Items {
			stack := &stacks.Items[i]
			earlier, err := r.hasEarlierHost(ctx, stack, cluster)
			if err != nil {
				return nil, err
			}
			if plan.Hostname(stack, cluster, earlier) == host {
				found = append(found, stack)
			}
		}
	}
	return found, nil
}

// hasEarlierHost reports whether the stack is exposed by the made-up host name that
// operators before this one gave it, or by none as they did without a domain. It keeps
// what it has.
func (r *Reconciler) hasEarlierHost(ctx context.Context, stack *v1alpha2.LlamaStackDistribution, cluster render.Cluster) (bool, error) {
	if plan.Hostname(stack, cluster, false) == plan.Hostname(stack, cluster, true) {
		return false, nil // it makes no difference
	}
	for _, kind := range render.ExposureKinds() {
		host, exposed, err := r.exposedHost(ctx, stack, kind)
		if err != nil {
			return false, err
		}
		label, _, _ := strings.Cut(host, ".")
		earlier := label == names.EarlierHostLabel(stack.Name, stack.Namespace) || host == "" && cluster.Ingress.Domain == ""
		if exposed && earlier {
			return true, nil
		}
	}
	return false, nil
}

// exposedHost is the host name in the stack's object of a kind that exposes it, as it is
// in the cache.
func (r *Reconciler) exposedHost(
	ctx context.Context, stack *v1alpha2.LlamaStackDistribution, kind schema.GroupVersionKind,
) (host string, exposed bool, err error) {
	if kind == render.RouteKind || kind == render.HTTPRouteKind {
		if !r.apis.serves(kind) {
			return "", false, nil
		}
		route := optionalObject(kind)
		name := names.Route(stack.Name)
		if kind == render.HTTPRouteKind {
			name = names.HTTPRoute(stack.Name)
		}
		err := r.apis.cache.Get(ctx, client.ObjectKey{Namespace: stack.Namespace, Name: name}, route)
		if err != nil || !metav1.IsControlledBy(route, stack) {
			return "", false, client.IgnoreNotFound(err)
		}
		host, _, _ = unstructured.NestedString(route.Object, "spec", "host")
		if hosts, _, _ := unstructured.NestedStringSlice(route.Object, "spec", "hostnames"); len(hosts) > 0 {
			host = hosts[0]
		}
		return host, true, nil
	}
	var ingress networkingv1.Ingress
	err = r.cache.Get(ctx, client.ObjectKey{Namespace: stack.Namespace, Name: names.Ingress(stack.Name)}, &ingress)
	if err != nil || !metav1.IsControlledBy(&ingress, stack) {
		return "", false, client.IgnoreNotFound(err)
	}
	if len(ingress.Spec.Rules) > 0 {
		host = ingress.Spec.Rules[0].Host
	}
	return host, true, nil
}

// rival is the stack that has a host name.
type rival struct{ host, namespace, name string }

// goesBefore says which of two stacks gets a host name: who is reached by it
// already, then who is older.
func goesBefore(a, b *v1alpha2.LlamaStackDistribution, host string) bool {
	if reachedBy(a, host) != reachedBy(b, host) {
		return reachedBy(a, host)
	}
	if !a.CreationTimestamp.Equal(&b.CreationTimestamp) {
		return a.CreationTimestamp.Before(&b.CreationTimestamp)
	}
	return a.UID < b.UID
}

func reachedBy(stack *v1alpha2.LlamaStackDistribution, host string) bool {
	address, err := url.Parse(stack.Status.RouteURL)
	return err == nil && address.Host == host
}

// exposed ends a reconcile whose stack is not exposed although it should be. The
// message names no object of another namespace.
func (*Reconciler) exposed(_ context.Context, s *state) error {
	failure := &status.Failure{Condition: v1alpha2.ConditionServiceReady, Retry: status.OnReferenceChange}
	switch planned := s.planned; {
	case s.rival != nil:
		whose := "a stack of another namespace"
		if s.rival.namespace == s.object.Namespace {
			whose = fmt.Sprintf("stack %q", s.rival.name)
		}
		failure.Reason = v1alpha2.ReasonHostnameTaken
		failure.Message = fmt.Sprintf("spec.networking.expose: host name %q is taken by %s, and the server is not exposed: take another", s.rival.host, whose)
	case !planned.Exposure.Empty() && !planned.ExposureServed:
		failure.Reason = v1alpha2.ReasonExposureUnavailable
		failure.Message = fmt.Sprintf("spec.networking.expose: the server is not exposed: the cluster does not serve %s of %s yet",
			planned.Exposure.Kind, planned.Exposure.Group)
	default:
		failure.Reason, failure.Message = v1alpha2.ReasonExposureNotAccepted, s.notAccepted()
	}
	if failure.Message == "" {
		return nil
	}
	return failure
}

// notAccepted is why what exposes the stack does not; empty: nobody says so.
func (s *state) notAccepted() string {
	live := s.exposure()
	if live == nil {
		return ""
	}
	return status.NotAccepted(live)
}

// byHostname wakes the stacks with a host name that another stack takes or leaves.
func (r *Reconciler) byHostname() handler.EventHandler {
	type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e ctrlevent.CreateEvent, q queue) { r.wakeRivals(ctx, q, e.Object) },
		DeleteFunc: func(ctx context.Context, e ctrlevent.DeleteEvent, q queue) { r.wakeRivals(ctx, q, e.Object) },
		UpdateFunc: func(ctx context.Context, e ctrlevent.UpdateEvent, q queue) {
			if e.ObjectOld.GetGeneration() != e.ObjectNew.GetGeneration() {
				r.wakeRivals(ctx, q, e.ObjectOld, e.ObjectNew)
			}
		},
	}
}

func (r *Reconciler) wakeRivals(ctx context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request], objects ...client.Object) {
	config, _, err := r.config.get(ctx)
	if err != nil {
		// At the start of the operator, when every stack is reconciled anyway.
		log.FromContext(ctx).V(1).Info("Operator config cannot be read yet", "error", err.Error())
		return
	}
	cluster := render.Cluster{Ingress: render.Ingress(config.Ingress)}
	for _, object := range objects {
		stack, ok := object.(*v1alpha2.LlamaStackDistribution)
		if !ok {
			continue
		}
		// What exposed it may be gone, so nobody knows which of the two it had.
		for _, host := range slices.Compact([]string{plan.Hostname(stack, cluster, false), plan.Hostname(stack, cluster, true)}) {
			r.wakeOthers(ctx, queue, stack, host, cluster)
		}
	}
}

// wakeOthers wakes the other stacks with a host name.
func (r *Reconciler) wakeOthers(
	ctx context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request],
	stack *v1alpha2.LlamaStackDistribution, host string, cluster render.Cluster,
) {
	if host == "" {
		return
	}
	others, err := r.stacksOf(ctx, host, cluster)
	if err != nil {
		log.FromContext(ctx).V(1).Info("Stacks cannot be listed yet", "error", err.Error())
	}
	for _, other := range others {
		if other.UID != stack.UID {
			queue.Add(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(other)})
		}
	}
}
