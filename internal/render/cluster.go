package render

// Cluster is what concerns every stack of a cluster, none of their pods.
type Cluster struct {
	// OperatorNamespace is where the operator runs. Empty: where the shipped manifests install it.
	OperatorNamespace string `json:"operatorNamespace,omitempty"`
	// NetworkPolicies says that each stack has a NetworkPolicy, whatever its spec says.
	NetworkPolicies bool `json:"networkPolicies,omitempty"`
}
