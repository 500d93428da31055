package render

// Cluster is what concerns every stack of a cluster, none of their pods.
type Cluster struct {
	// OperatorNamespace is where the operator runs. Empty: where the shipped manifests install it.
	OperatorNamespace string `json:"operatorNamespace,omitempty"`
	// NetworkPolicies says that each stack has a NetworkPolicy, whatever its spec says.
	NetworkPolicies bool `json:"networkPolicies,omitempty"`
	// Ingress says how exposed stacks are reached.
	Ingress Ingress `json:"ingress,omitzero"`
	// Gateway that exposed stacks are attached to. Nil: none is configured.
	Gateway *Gateway `json:"gateway,omitempty"`
	// Routes says that the cluster serves OpenShift's Route, HTTPRoutes and BackendTLSPolicies that it serves these of the
	// Gateway API.
	Routes             bool `json:"routes,omitempty"`
	HTTPRoutes         bool `json:"httpRoutes,omitempty"`
	BackendTLSPolicies bool `json:"backendTLSPolicies,omitempty"`
	// ExposureUnknown says that Ingress and Gateway could not be read: nothing is known of how to expose a stack.
	ExposureUnknown bool `json:"exposureUnknown,omitempty"`
}

// Ingress says how exposed stacks are reached.
type Ingress struct {
	// Domain that the host names of stacks without one of their own are made in. Empty: names.DefaultDomain, but for Routes,
	// which get a name from OpenShift.
	Domain string `json:"domain,omitempty"`
	// ClassName of Ingresses whose stack names none. Empty: the cluster's default.
	ClassName string `json:"className,omitempty"`
	// Annotations of every Ingress; those of a stack go before.
	Annotations map[string]string `json:"annotations,omitempty"`
	// ControllerNamespaces are where connections to exposed stacks come from.
	ControllerNamespaces []string `json:"controllerNamespaces,omitempty"`
}

// Gateway is a Gateway of the Gateway API.
type Gateway struct {
	// Name and Namespace of the Gateway.
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
	// SectionName is its listener. Empty: each that takes the route.
	SectionName string `json:"sectionName,omitempty"`
}
