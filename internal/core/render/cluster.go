package render

// Cluster holds the settings of a cluster for all of its stacks. No setting affects the pods.
type Cluster struct {
	// OperatorNamespace is the namespace of the operator. Empty means the namespace in the shipped manifests.
	OperatorNamespace string `json:"operatorNamespace,omitempty"`
	// NetworkPolicies reports whether each stack has a NetworkPolicy, regardless of its spec.
	NetworkPolicies bool `json:"networkPolicies,omitempty"`
	// Ingress holds the settings for exposed stacks.
	Ingress Ingress `json:"ingress,omitzero"`
	// Gateway is the Gateway to which exposed stacks are attached. Nil means that no Gateway is configured.
	Gateway *Gateway `json:"gateway,omitempty"`
	// Routes reports whether the cluster serves OpenShift's Route. HTTPRoutes and BackendTLSPolicies report whether it
	// serves these Gateway API kinds.
	Routes             bool `json:"routes,omitempty"`
	HTTPRoutes         bool `json:"httpRoutes,omitempty"`
	BackendTLSPolicies bool `json:"backendTLSPolicies,omitempty"`
	// ExposureUnknown reports whether the operator could not read the settings for Ingress or Gateway, so that the way to
	// expose a stack is unknown.
	ExposureUnknown bool `json:"exposureUnknown,omitempty"`
}

// Ingress holds the settings for exposed stacks.
type Ingress struct {
	// Domain is the domain for generated host names of stacks without their own host name. Empty means
	// names.DefaultDomain. This default does not apply to Routes, which get a name from OpenShift, or to v1alpha1
	// stacks (see Hostname).
	Domain string `json:"domain,omitempty"`
	// ClassName is the class of Ingresses for stacks that do not name a class. Empty means the cluster's default.
	ClassName string `json:"className,omitempty"`
	// Annotations are the annotations of every Ingress. The annotations of a stack take precedence.
	Annotations map[string]string `json:"annotations,omitempty"`
	// ControllerNamespaces are the namespaces from which connections to exposed stacks come.
	ControllerNamespaces []string `json:"controllerNamespaces,omitempty"`
}

// Gateway is a Gateway of the Gateway API.
type Gateway struct {
	// Name and Namespace identify the Gateway.
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
	// SectionName is the name of a Gateway listener. Empty means each listener that accepts the route.
	SectionName string `json:"sectionName,omitempty"`
}
