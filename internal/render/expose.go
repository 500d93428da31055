package render

import (
	"cmp"
	"maps"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
)

// Exposure says by which kind of object the stack is reached from outside, and whether the cluster serves that kind.
// No kind: it is not, or nobody knows how. A Gateway is what an administrator chose; a Route is what OpenShift has.
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

// exposedBy says that the stack is exposed by an object of the kind.
func exposedBy(in Input, kind schema.GroupVersionKind) bool {
	by, served := Exposure(in)
	return by == kind && served
}

// Hostname is the stack's host name (FR-064, FR-065). Empty: whatever the cluster gives it. A stack of v1alpha1 and an
// exposure that an operator before this one made keep the name that they have, or that they have none.
func Hostname(in Input) string {
	domain := in.Cluster.Ingress.Domain
	switch kind, _ := Exposure(in); {
	case in.Expose == nil:
		return ""
	case in.Expose.Hostname != "":
		return in.Expose.Hostname
	case domain == "" && (compat(in) || in.EarlierHost || kind == RouteKind): // OpenShift makes a name up for a Route
		return ""
	case compat(in) || in.EarlierHost:
		return names.EarlierHostLabel(in.Stack.Name, in.Stack.Namespace) + "." + domain
	default:
		return names.HostLabel(in.Stack.Name, in.Stack.Namespace) + "." + cmp.Or(domain, names.DefaultDomain)
	}
}

// MadeUpForNobody reports whether the stack's host name is one in the default domain, which no DNS knows.
func MadeUpForNobody(in Input) bool {
	return in.Expose != nil && in.Expose.Hostname == "" && in.Cluster.Ingress.Domain == "" && Hostname(in) != ""
}

// exposureAnnotations are the stack's, over others.
func exposureAnnotations(in Input, others map[string]string) map[string]string {
	annotations := maps.Clone(others)
	if annotations == nil {
		annotations = map[string]string{}
	}
	maps.Copy(annotations, in.Expose.Annotations)
	return annotations
}
