package render

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
	gatewayv1ac "sigs.k8s.io/gateway-api/applyconfiguration/apis/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// HTTPRouteKind is the Gateway API kind HTTPRoute, which not every cluster serves.
var HTTPRouteKind = schema.GroupVersionKind{
	Group: gatewayv1.GroupName, Version: gatewayv1.GroupVersion.Version,
	Kind: "HTTPRoute",
}

// httpRoute returns the route that attaches the stack to the administrator's Gateway. It sets the defaults of the API
// server explicitly, because the operator compares each list of this API as a whole.
func httpRoute(in Input) (*gatewayv1ac.HTTPRouteApplyConfiguration, error) {
	if !exposedBy(in, HTTPRouteKind) {
		return nil, nil
	}
	gateway := in.Cluster.Gateway
	parent := gatewayv1ac.ParentReference().
		WithGroup(gatewayv1.GroupName).WithKind("Gateway").
		WithName(gatewayv1.ObjectName(gateway.Name)).WithNamespace(gatewayv1.Namespace(gateway.Namespace))
	if gateway.SectionName != "" {
		parent.WithSectionName(gatewayv1.SectionName(gateway.SectionName))
	}
	match := gatewayv1ac.HTTPRouteMatch().WithPath(gatewayv1ac.HTTPPathMatch().
		WithType(gatewayv1.PathMatchPathPrefix).WithValue("/"))
	backend := gatewayv1ac.HTTPBackendRef().
		WithGroup("").WithKind("Service").WithName(gatewayv1.ObjectName(names.Service(in.Stack.Name))).
		WithPort(Port(&in.Stack.Spec)).WithWeight(1)
	spec := gatewayv1ac.HTTPRouteSpec().
		WithParentRefs(parent).
		WithRules(gatewayv1ac.HTTPRouteRule().WithMatches(match).WithBackendRefs(backend))
	if host := Hostname(in); host != "" {
		spec.WithHostnames(gatewayv1.Hostname(host))
	}
	return owned(in, gatewayv1ac.HTTPRoute, names.HTTPRoute(in.Stack.Name)).
		WithAnnotations(merged(in.Expose.Annotations)).
		WithSpec(spec), nil
}
