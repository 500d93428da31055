package validate

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

// setters set the field of each row and nothing else.
var setters = map[string]func(*v1alpha2.LlamaStackDistributionSpec){
	"spec.externalProviders": func(s *v1alpha2.LlamaStackDistributionSpec) {
		s.ExternalProviders = map[string]v1alpha2.ExternalProviders{"inference": {{}}}
	},
}

func TestUnsupported(t *testing.T) {
	for _, field := range unsupported {
		set, ok := setters[field.path]
		if !ok {
			t.Errorf("%s: no case sets it", field.path)
			continue
		}
		obj := &v1alpha2.LlamaStackDistribution{}
		set(&obj.Spec)
		if diff := cmp.Diff([]string{field.path}, Unsupported(obj)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", field.path, diff)
		}
	}
	if len(setters) != len(unsupported) {
		t.Errorf("%d cases for %d fields: one has been removed from the list", len(setters), len(unsupported))
	}
}

// What asks for nothing is not worth a warning.
func TestUnsupportedSaysNothing(t *testing.T) {
	for name, spec := range map[string]v1alpha2.LlamaStackDistributionSpec{
		"nothing set": {},
		"tls off":     {Networking: &v1alpha2.NetworkingSpec{TLS: &v1alpha2.TLSSpec{}}},
	} {
		if got := Unsupported(&v1alpha2.LlamaStackDistribution{Spec: spec}); len(got) > 0 {
			t.Errorf("%s: %q", name, got)
		}
	}
}
