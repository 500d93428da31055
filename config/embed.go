package config

import _ "embed" // the manifests below

// Definition is the CustomResourceDefinition of LlamaStackDistribution, as YAML.
//
//go:embed crd/bases/llamastack.io_llamastackdistributions.yaml
var Definition []byte

// Policy is the ValidatingAdmissionPolicy for LlamaStackDistribution, as YAML.
//
//go:embed policy/validatingadmissionpolicy.yaml
var Policy []byte

// Role is the operator's ClusterRole, as YAML. NamespacedRole is its Role in a namespace, if it is limited to some.
var (
	//go:embed rbac/role.yaml
	Role []byte
	//go:embed rbac/namespaced/role.yaml
	NamespacedRole []byte
)
