package render

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// RouteKind is the OpenShift kind Route, which other clusters do not serve.
var RouteKind = schema.GroupVersionKind{Group: "route.openshift.io", Version: "v1", Kind: "Route"}

// routeApplyConfiguration is an apply configuration with only those fields of OpenShift's Route that the operator sets.
// The OpenShift module has no apply configurations.
type routeApplyConfiguration struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`

	*metav1ac.ObjectMetaApplyConfiguration `json:"metadata"`

	Spec map[string]any `json:"spec"`
}

// IsApplyConfiguration marks the type as an apply configuration.
func (routeApplyConfiguration) IsApplyConfiguration() {}

// GetName returns the object's name.
func (r *routeApplyConfiguration) GetName() *string { return r.Name }

// route returns the Route that exposes the stack through OpenShift's router, always over HTTPS. If the server serves
// HTTPS, the router passes connections to the server without decrypting them. Otherwise, the router uses the
// certificate that the spec names, or its own certificate.
func route(in Input) (*routeApplyConfiguration, error) {
	if !exposedBy(in, RouteKind) {
		return nil, nil
	}
	tls := map[string]any{"termination": "edge", "insecureEdgeTerminationPolicy": "Redirect"}
	switch {
	case PodsServeTLS(in):
		tls["termination"] = "passthrough"
	case in.Expose.TLSSecretName != "":
		tls["externalCertificate"] = map[string]any{"name": in.Expose.TLSSecretName}
	}
	spec := map[string]any{
		"to":   map[string]any{"kind": serviceKind.Kind, "name": names.Service(in.Stack.Name)},
		"port": map[string]any{"targetPort": names.PortName},
		"tls":  tls,
	}
	if host := Hostname(in); host != "" {
		spec["host"] = host
	}
	metadata := (&metav1ac.ObjectMetaApplyConfiguration{}).
		WithName(names.Route(in.Stack.Name)).
		WithNamespace(in.Stack.Namespace).
		WithLabels(names.Labels(in.Stack.Name)).
		WithAnnotations(merged(in.Expose.Annotations)).
		WithOwnerReferences(owner(in.Stack)...)
	return &routeApplyConfiguration{
		APIVersion: RouteKind.GroupVersion().String(), Kind: RouteKind.Kind, ObjectMetaApplyConfiguration: metadata,
		Spec: spec,
	}, nil
}
