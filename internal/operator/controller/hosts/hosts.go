package hosts

import (
	"context"
	"errors"
	"fmt"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/lru"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/facts"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/hostname"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/operatorconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
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
	return &Hosts{
		cache: cache, apis: apis, settings: settings, openShift: openShift,
		exposures: &exposures{lru.New(rememberedExposures), plan.Expose},
	}
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

// Names returns what the caches contain about the host names in the cluster.
func (h *Hosts) Names(ctx context.Context, cluster render.Cluster) (*hostname.Names, error) {
	config, err := h.settings.Config(ctx)
	if err != nil {
		return nil, err
	}
	return &hostname.Names{
		Cluster: cluster, Bounds: config.Bounds, Expose: h.exposures.of,
		Exposed: func(stack *stack, host string) (bool, error) { return h.isExposed(ctx, stack, host) },
		Stacks: func(host string) ([]*stack, error) {
			return h.stacksWith(ctx, host, hostname.Domain(cluster))
		},
	}, nil
}

// stacksWith returns the cached stacks that may use or request a host name. Callers must not change the stacks.
func (h *Hosts) stacksWith(ctx context.Context, host, domain string) ([]*stack, error) {
	var found []*stack
	for _, value := range hostsIn(host, domain) {
		var list v1alpha2.LlamaStackDistributionList
		if err := h.cache.List(ctx, &list, client.MatchingFields{field: value},
			client.UnsafeDisableDeepCopy); err != nil {
			return nil, fmt.Errorf("list cached stacks with host name %q: %w", host, err)
		}
		for i := range list.Items {
			found = append(found, &list.Items[i])
		}
	}
	if host != "" {
		return found, nil
	}
	lacking, err := h.lacking(ctx, found)
	return append(found, lacking...), err
}

// lacking returns the stacks that control an Ingress or an HTTPRoute without a host name and that the index does not
// contain. For example, a user can remove the annotation and the network settings of a paused stack, on which the
// index depends, and the operator then does not change the Ingress.
func (h *Hosts) lacking(ctx context.Context, indexed []*stack) ([]*stack, error) {
	known := make(map[types.NamespacedName]bool, len(indexed))
	for _, one := range indexed {
		known[client.ObjectKeyFromObject(one)] = true
	}
	var ingresses networkingv1.IngressList
	if err := h.cache.List(ctx, &ingresses, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list cached Ingresses: %w", err)
	}
	routes, err := h.apis.List(ctx, render.HTTPRouteKind)
	if err != nil {
		return nil, fmt.Errorf("list cached HTTPRoutes: %w", err)
	}
	var found []*stack
	add := func(object client.Object, name func(stack string) string) error {
		owner := metav1.GetControllerOfNoCopy(object)
		if owner == nil || object.GetName() != name(owner.Name) {
			return nil
		}
		of := types.NamespacedName{Namespace: object.GetNamespace(), Name: owner.Name}
		if known[of] { // almost all of them, and a read copies the stack
			return nil
		}
		known[of] = true
		one := &stack{}
		err := h.cache.Get(ctx, of, one)
		if err == nil {
			found = append(found, one)
		}
		return client.IgnoreNotFound(err)
	}
	for i := range ingresses.Items {
		if one := &ingresses.Items[i]; len(one.Spec.Rules) == 0 || one.Spec.Rules[0].Host == "" {
			err = errors.Join(err, add(one, names.Ingress))
		}
	}
	for i := range routes {
		if hosts, _, _ := unstructured.NestedStringSlice(routes[i].Object, "spec", "hostnames"); len(hosts) == 0 {
			err = errors.Join(err, add(&routes[i], names.HTTPRoute))
		}
	}
	return found, err
}

// Uninformed returns requests for the stacks that use or request one of the host names, which have the form of
// the index by host name. It leaves out the stacks whose status already shows who owns the host name. Otherwise, every
// stack that a tenant adds would result in a reconcile of all its stacks with the same host name.
func (h *Hosts) Uninformed(ctx context.Context, hosts []string) ([]reconcile.Request, error) {
	config, err := h.settings.Config(ctx)
	if err != nil {
		return nil, err
	}
	cluster := h.platform(config)
	names, err := h.Names(ctx, cluster)
	if err != nil {
		return nil, err
	}
	var requests []reconcile.Request
	for _, host := range hosts {
		if label, generated := strings.CutSuffix(host, anyDomain); generated {
			host = label + hostname.Domain(cluster)
		} else if host == noHost {
			host = ""
		}
		stacks, err := names.Stacks(host)
		if err != nil {
			return nil, err
		}
		claims, err := names.Claims(host, stacks)
		if err != nil {
			return nil, err
		}
		owner := hostname.First(claims)
		for _, one := range claims {
			if !knowsOwner(one, owner, host) {
				requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(one.Stack)})
			}
		}
	}
	return requests, nil
}

// knowsOwner reports whether the status of a stack shows who owns its host name, so that a reconcile changes nothing.
// If a reconcile that has not ended yet exposes the stack, the change to the status results in another request.
func knowsOwner(one, owner hostname.Claim, host string) bool {
	if one.Holds || one.Stack == owner.Stack {
		return one.Holds && one.Stack == owner.Stack
	}
	exposed := meta.FindStatusCondition(one.Stack.Status.Conditions, v1alpha2.ConditionExposed)
	taken := hostname.Owner{Host: host, Namespace: owner.Stack.Namespace, Name: owner.Stack.Name}
	return exposed != nil && exposed.Reason == v1alpha2.ReasonHostnameTaken && exposed.Message == taken.Message(one.Stack)
}
