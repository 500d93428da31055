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
