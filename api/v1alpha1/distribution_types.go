package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// LlamaStackDistribution runs one Llama Stack server.
//
// The API server serves v1alpha1 in addition to v1alpha2, so stacks that are written in v1alpha1 keep working. The API
// server stores every stack as v1alpha2, and the operator converts between the two versions.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:shortName=llsd
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas,selectorpath=.status.selector
// +kubebuilder:selectablefield:JSONPath=`.spec.server.userConfig.configMapName`
// +kubebuilder:selectablefield:JSONPath=`.spec.server.userConfig.configMapNamespace`
// +kubebuilder:selectablefield:JSONPath=`.spec.server.tlsConfig.caBundle.configMapName`
// +kubebuilder:selectablefield:JSONPath=`.spec.server.tlsConfig.caBundle.configMapNamespace`
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Operator Version",type=string,JSONPath=`.status.version.operatorVersion`
// +kubebuilder:printcolumn:name="Server Version",type=string,JSONPath=`.status.version.llamaStackServerVersion`
// +kubebuilder:printcolumn:name="Available",type=integer,JSONPath=`.status.availableReplicas`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type LlamaStackDistribution struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the desired state.
	// +required
	Spec LlamaStackDistributionSpec `json:"spec"`

	// status is the last observed state.
	// +optional
	Status LlamaStackDistributionStatus `json:"status,omitempty"`
}

// LlamaStackDistributionList is a list of LlamaStackDistribution.
//
// +kubebuilder:object:root=true
type LlamaStackDistributionList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []LlamaStackDistribution `json:"items"`
}

// LlamaStackDistributionSpec is the desired state of a stack.
type LlamaStackDistributionSpec struct {
	// replicas is the number of pods. Set 0 to stop the server and keep its data. Defaults to 1.
	// +kubebuilder:default=1
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`

	// server configures the server. Required.
	// +required
	Server ServerSpec `json:"server"`

	// network restricts who can connect to the server. If it is unset and the operator creates network policies, only the
	// namespaces of the stack and the operator can connect.
	// +optional
	Network *NetworkSpec `json:"network,omitempty"`
}

// NetworkSpec restricts who can connect to the server.
type NetworkSpec struct {
	// exposeRoute exposes the server outside the cluster. Defaults to false.
	// +kubebuilder:default=false
	// +optional
	ExposeRoute *bool `json:"exposeRoute,omitempty"`

	// allowedFrom lists the namespaces that can connect, in addition to the namespaces of the stack and the operator.
	// +optional
	AllowedFrom *AllowedFromSpec `json:"allowedFrom,omitempty"`
}

// AllowedFromSpec selects the namespaces that can connect.
type AllowedFromSpec struct {
	// namespaces lists namespaces by name. "*" means every namespace.
	// +optional
	Namespaces []string `json:"namespaces,omitempty"`

	// labels lists label keys. Every namespace that has a label with one of these keys can connect.
	// +optional
	Labels []string `json:"labels,omitempty"`
}
