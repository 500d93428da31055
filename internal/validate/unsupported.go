package validate

import (
	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

// unsupportedField is a field whose effect comes in a later release.
type unsupportedField struct {
	path string
	set  func(*v1alpha2.LlamaStackDistributionSpec) bool
}

// unsupported is the one list of fields that are accepted and have no effect
// yet. It shrinks to nothing.
var unsupported = []unsupportedField{
	{"spec.externalProviders", func(s *v1alpha2.LlamaStackDistributionSpec) bool { return len(s.ExternalProviders) > 0 }},
}

// Unsupported are the paths of the fields that an object sets without effect in
// this release of the operator, in the order of the API.
func Unsupported(obj *v1alpha2.LlamaStackDistribution) []string {
	var paths []string
	for _, field := range unsupported {
		if field.set(&obj.Spec) {
			paths = append(paths, field.path)
		}
	}
	return paths
}
