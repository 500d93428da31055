package hosts

import (
	"context"
	"fmt"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/facts"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/operatorconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/caches"
)

// stack is a stack in a cache. Do not change it.
type stack = v1alpha2.LlamaStackDistribution

// Hosts knows, from the caches, which stacks use or request a host name, and what exposes them.
type Hosts struct {
	cache     client.Reader
	apis      *caches.APIs
	settings  *resolve.OperatorConfig
	openShift bool
	exposures *exposures
}

// New returns the host names in an indexed cache.
func New(cache client.Reader, apis *caches.APIs, settings *resolve.OperatorConfig, openShift bool) *Hosts {
	return &Hosts{cache: cache, apis: apis, settings: settings, openShift: openShift, exposures: newExposures()}
}

// Cluster returns the settings in the operator's ConfigMap that apply to every stack, and reports which of the optional
// kinds the cluster serves.
func (h *Hosts) Cluster(ctx context.Context, stack *stack, config operatorconfig.Config) (render.Cluster, error) {
	cluster := h.platform(config)
	if config.Unknown(operatorconfig.KeyFeatureFlags) {
		// The setting is unknown, so an existing NetworkPolicy is kept.
		err := h.cache.Get(ctx, key(stack, names.NetworkPolicy(stack.Name)), &networkingv1.NetworkPolicy{})
		if client.IgnoreNotFound(err) != nil {
			return render.Cluster{}, fmt.Errorf("read cached NetworkPolicy: %w", err)
		}
		cluster.NetworkPolicies = err == nil
	}
	return cluster, nil
}

// platform returns the settings that determine how stacks are exposed.
func (h *Hosts) platform(config operatorconfig.Config) render.Cluster {
	return facts.Platform{
		OpenShift: h.openShift, Serves: h.apis.Serves, OperatorNamespace: h.settings.Name().Namespace,
	}.Cluster(config)
}

// isExposed reports whether a live object exposes the stack with a host name, which can be empty.
func (h *Hosts) isExposed(ctx context.Context, stack *stack, host string) (bool, error) {
	for _, kind := range render.ExposureKinds() {
		if live, exposed, err := h.exposedHost(ctx, stack, kind); err != nil || exposed && live == host {
			return err == nil, err
		}
	}
	return false, nil
}

// exposedHost returns the host name in the stack's cached object of a kind. The result `exposed` reports whether the
// object exists.
func (h *Hosts) exposedHost(
	ctx context.Context, stack *stack, kind schema.GroupVersionKind,
) (host string, exposed bool, err error) {
	switch kind {
	case render.RouteKind:
		return h.routeHost(ctx, stack, kind, names.Route(stack.Name))
	case render.HTTPRouteKind:
		return h.routeHost(ctx, stack, kind, names.HTTPRoute(stack.Name))
	}
	var ingress networkingv1.Ingress
	err = h.cache.Get(ctx, key(stack, names.Ingress(stack.Name)), &ingress)
	if err != nil || !metav1.IsControlledBy(&ingress, stack) {
		return "", false, client.IgnoreNotFound(err)
	}
	if len(ingress.Spec.Rules) > 0 {
		host = ingress.Spec.Rules[0].Host
	}
	return host, true, nil
}

// routeHost returns the host name in the stack's Route or HTTPRoute.
func (h *Hosts) routeHost(
	ctx context.Context, stack *stack, kind schema.GroupVersionKind, name string,
) (host string, exposed bool, err error) {
	route, err := h.apis.Get(ctx, kind, key(stack, name))
	if route == nil || err != nil || !metav1.IsControlledBy(route, stack) {
		return "", false, err
	}
	host, _, _ = unstructured.NestedString(route.Object, "spec", "host")
	if hosts, _, _ := unstructured.NestedStringSlice(route.Object, "spec", "hostnames"); len(hosts) > 0 {
		host = hosts[0]
	}
	return host, true, nil
}

func key(stack *stack, name string) types.NamespacedName {
	return types.NamespacedName{Namespace: stack.Namespace, Name: name}
}
