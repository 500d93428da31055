package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// LlamaStackDistribution runs one Llama Stack server.
//
// It is served for the stacks that are written in it. The API server stores
// v1alpha2, and the operator converts between the two.
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

	// spec is the wanted state.
	// +required
	Spec LlamaStackDistributionSpec `json:"spec"`

	// status is what the operator observed last.
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

// LlamaStackDistributionSpec is the wanted state of a stack.
type LlamaStackDistributionSpec struct {
	// replicas is the number of pods; 0 stops the server and keeps its data.
	// Unset: 1.
	// +kubebuilder:default=1
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`

	// server is what runs. Required.
	// +required
	Server ServerSpec `json:"server"`

	// network says who reaches the server. Unset: its namespace and the
	// operator's, where the operator makes network policies.
	// +optional
	Network *NetworkSpec `json:"network,omitempty"`
}

// NetworkSpec says who reaches the server.
type NetworkSpec struct {
	// exposeRoute makes the server reachable from outside the cluster. Unset:
	// false.
	// +kubebuilder:default=false
	// +optional
	ExposeRoute *bool `json:"exposeRoute,omitempty"`

	// allowedFrom lists who may connect, beside the stack's own namespace and
	// the operator's.
	// +optional
	AllowedFrom *AllowedFromSpec `json:"allowedFrom,omitempty"`
}

// AllowedFromSpec lists namespaces.
type AllowedFromSpec struct {
	// namespaces by name; "*" is every namespace.
	// +optional
	Namespaces []string `json:"namespaces,omitempty"`

	// labels are keys of labels that a namespace has to have.
	// +optional
	Labels []string `json:"labels,omitempty"`
}
