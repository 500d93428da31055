package controller

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operatorconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/render"
)

// cluster returns the settings in the operator's ConfigMap that apply to every stack, and reports which of the optional
// kinds the cluster serves.
func (r *Reconciler) cluster(ctx context.Context, stack *stack, config operatorconfig.Config) (render.Cluster, error) {
	cluster := render.Cluster{
		OperatorNamespace: r.config.name.Namespace, NetworkPolicies: config.Features.NetworkPolicies,
		Ingress: render.Ingress(config.Ingress), Gateway: (*render.Gateway)(config.Gateway),
		Routes: r.apis.serves(render.RouteKind), HTTPRoutes: r.apis.serves(render.HTTPRouteKind),
		BackendTLSPolicies: r.apis.serves(render.BackendTLSPolicyKind),
		ExposureUnknown:    config.Unknown(operatorconfig.KeyIngress) || config.Unknown(operatorconfig.KeyGateway),
	}
	if config.Unknown(operatorconfig.KeyFeatureFlags) {
		// The setting is unknown, so an existing NetworkPolicy is kept.
		err := r.cache.Get(ctx, childKey(stack, names.NetworkPolicy(stack.Name)), &networkingv1.NetworkPolicy{})
		if client.IgnoreNotFound(err) != nil {
			return render.Cluster{}, fmt.Errorf("read cached NetworkPolicy: %w", err)
		}
		cluster.NetworkPolicies = err == nil
	}
	return cluster, nil
}

// hostOwner is the stack that owns a host name.
type hostOwner struct{ host, namespace, name string }

// findHostOwner returns the stack with the same host name that takes precedence over this one, or nil if there is none.
// A stack without precedence is not exposed, so that it does not receive traffic for the other stack.
func (r *Reconciler) findHostOwner(
	ctx context.Context, stack *stack, cluster render.Cluster, earlierHost bool,
) (*hostOwner, error) {
	host := r.exposures.hostname(stack, cluster, earlierHost)
	if host == "" {
		return nil, nil
	}
	stacks, err := r.stacksOf(ctx, host, cluster)
	if err != nil {
		return nil, err
	}
	first := stack
	for _, other := range stacks {
		if other.UID != stack.UID && other.DeletionTimestamp == nil && precedes(other, first, host) {
			first = other
		}
	}
	if first == stack {
		return nil, nil
	}
	return &hostOwner{host: host, namespace: first.Namespace, name: first.Name}, nil
}

// stacksOf returns the cached stacks that request a host name. Callers must not change the stacks.
func (r *Reconciler) stacksOf(
	ctx context.Context, host string, cluster render.Cluster,
) ([]*v1alpha2.LlamaStackDistribution, error) {
	var found []*v1alpha2.LlamaStackDistribution
	for _, value := range hostsIn(host, cmp.Or(cluster.Ingress.Domain, names.DefaultDomain)) {
		var stacks v1alpha2.LlamaStackDistributionList
		if err := r.cache.List(ctx, &stacks, client.MatchingFields{fieldHost: value},
			client.UnsafeDisableDeepCopy); err != nil {
			return nil, fmt.Errorf("list cached stacks with host name %q: %w", host, err)
		}
		for i := range stacks.Items {
			stack := &stacks.Items[i]
			earlier, err := r.hasEarlierHost(ctx, stack, cluster)
			if err != nil {
				return nil, err
			}
			if r.exposures.hostname(stack, cluster, earlier) == host {
				found = append(found, stack)
			}
		}
	}
	return found, nil
}

// hasEarlierHost reports whether the stack is exposed with a host name that an earlier operator generated. It also
// returns true if the stack is exposed without a host name and there is no domain, because earlier operators then set
// no host name. The stack keeps this host name, or remains without one.
func (r *Reconciler) hasEarlierHost(
	ctx context.Context, stack *v1alpha2.LlamaStackDistribution, cluster render.Cluster,
) (bool, error) {
	if r.exposures.hostname(stack, cluster, false) == r.exposures.hostname(stack, cluster, true) {
		return false, nil // both names are the same
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

// exposedHost returns the host name in the stack's cached object of a kind. The result `exposed` reports whether the
// object exists.
func (r *Reconciler) exposedHost(
	ctx context.Context, stack *v1alpha2.LlamaStackDistribution, kind schema.GroupVersionKind,
) (host string, exposed bool, err error) {
	switch kind {
	case render.RouteKind:
		return r.routeHost(ctx, stack, kind, names.Route(stack.Name))
	case render.HTTPRouteKind:
		return r.routeHost(ctx, stack, kind, names.HTTPRoute(stack.Name))
	}
	var ingress networkingv1.Ingress
	err = r.cache.Get(ctx, childKey(stack, names.Ingress(stack.Name)), &ingress)
	if err != nil || !metav1.IsControlledBy(&ingress, stack) {
		return "", false, client.IgnoreNotFound(err)
	}
	if len(ingress.Spec.Rules) > 0 {
		host = ingress.Spec.Rules[0].Host
	}
	return host, true, nil
}

// routeHost returns the host name in the stack's Route or HTTPRoute.
func (r *Reconciler) routeHost(
	ctx context.Context, stack *stack, kind schema.GroupVersionKind, name string,
) (host string, exposed bool, err error) {
	if !r.apis.serves(kind) {
		return "", false, nil
	}
	route := optionalObject(kind)
	err = r.apis.cache.Get(ctx, childKey(stack, name), route)
	if err != nil || !metav1.IsControlledBy(route, stack) {
		return "", false, client.IgnoreNotFound(err)
	}
	host, _, _ = unstructured.NestedString(route.Object, "spec", "host")
	if hosts, _, _ := unstructured.NestedStringSlice(route.Object, "spec", "hostnames"); len(hosts) > 0 {
		host = hosts[0]
	}
	return host, true, nil
}

// precedes reports whether stack a takes precedence over stack b for a host name. A stack that already uses the host
// name takes precedence. If neither or both of them use it, the older stack takes precedence.
func precedes(a, b *v1alpha2.LlamaStackDistribution, host string) bool {
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
