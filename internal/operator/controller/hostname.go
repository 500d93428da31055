package controller

import (
	"context"
	"fmt"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/facts"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/operatorconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
)

// cluster returns the settings in the operator's ConfigMap that apply to every stack, and reports which of the optional
// kinds the cluster serves.
func (r *Reconciler) cluster(ctx context.Context, stack *stack, config operatorconfig.Config) (render.Cluster, error) {
	cluster := r.exposing(config)
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

// exposing returns the settings that determine how stacks are exposed.
func (r *Reconciler) exposing(config operatorconfig.Config) render.Cluster {
	return facts.Platform{
		OpenShift: r.openShift, Serves: r.apis.serves, OperatorNamespace: r.config.name.Namespace,
	}.Cluster(config)
}

// isExposed reports whether a live object exposes the stack with a matching host name, which can be empty.
func (r *Reconciler) isExposed(ctx context.Context, stack *stack, matches func(host string) bool) (bool, error) {
	for _, kind := range render.ExposureKinds() {
		if host, exposed, err := r.exposedHost(ctx, stack, kind); err != nil || exposed && matches(host) {
			return err == nil, err
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
