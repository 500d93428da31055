package render

import (
	"cmp"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// Exposure returns the kind of object that exposes the stack outside the cluster, and whether the cluster serves that
// kind. An empty kind means that the stack is not exposed, or that the way to expose it is unknown. If an administrator
// configured a Gateway, the kind is HTTPRoute. Otherwise, it is Route on OpenShift, and Ingress on other clusters.
func Exposure(in Input) (kind schema.GroupVersionKind, served bool) {
	switch {
	case in.Expose == nil, in.Cluster.ExposureUnknown:
		return schema.GroupVersionKind{}, false
	case in.Cluster.Gateway != nil:
		return HTTPRouteKind, in.Cluster.HTTPRoutes
	case in.Cluster.Routes:
		return RouteKind, true
	default:
		return ingressKind, true
	}
}

// exposedBy reports whether an object of the kind exposes the stack.
func exposedBy(in Input, kind schema.GroupVersionKind) bool {
	by, served := Exposure(in)
	return by == kind && served
}

// Hostname returns the stack's host name (FR-064, FR-065). An empty string means that the cluster generates a host
// name, or that the stack has no host name. A v1alpha1 stack has no host name if there is no domain, unless its
// namespace has bounds for domains: the annotation of v1alpha1 stacks proves nothing, because every user of the
// namespace can set it.
func Hostname(in Input) string {
	domain := in.Cluster.Ingress.Domain
	switch kind, _ := Exposure(in); {
	case in.Expose == nil:
		return ""
	case in.Expose.Hostname != "":
		return in.Expose.Hostname
	case domain == "" && kind == RouteKind: // OpenShift generates a name for a Route
		return ""
	case domain == "" && of(in).NoHostname && !in.NeedsHost:
		return ""
	default:
		return names.HostLabel(in.Stack.Name, in.Stack.Namespace) + "." + cmp.Or(domain, names.DefaultDomain)
	}
}

// HasDefaultDomain reports whether the stack's host name is in the default domain, which no DNS server resolves.
func HasDefaultDomain(in Input) bool {
	return in.Expose != nil && in.Expose.Hostname == "" && in.Cluster.Ingress.Domain == "" && Hostname(in) != ""
}
