package intent_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
)

// The total number of references of all providers is limited, even if the references name few Secrets.
func TestSecretReferences(t *testing.T) {
	object := func(count int) *v1alpha2.LlamaStackDistribution {
		var providers []string
		for from := 0; from < count; from += intent.MaxProviderFields {
			var refs []string
			for i := range min(intent.MaxProviderFields, count-from) {
				refs = append(refs, fmt.Sprintf(`"k%d":{"secretKeyRef":{"name":"s","key":"k"}}`, i))
			}
			providers = append(providers, fmt.Sprintf(`{"id":"p%d","provider":"vllm","secretRefs":{%s}}`, from, strings.Join(refs, ",")))
		}
		obj := &v1alpha2.LlamaStackDistribution{}
		obj.Spec.Providers = &v1alpha2.ProvidersSpec{Inference: &v1alpha2.Providers{}}
		obj.Spec.Providers.Inference.Raw = []byte("[" + strings.Join(providers, ",") + "]")
		return obj
	}
	if _, errs := intent.FromObject(object(2000)); len(errs) > 0 {
		t.Errorf("the maximum number of references: %s", intent.Messages(errs))
	}
	want := "spec.providers.inference[15].secretRefs[k9].secretKeyRef: the stack has 2001 references to Secrets, but the limit is 2000: remove some of these references"
	if _, errs := intent.FromObject(object(2001)); intent.Messages(errs) != want {
		t.Errorf("got  %s\nwant %s", intent.Messages(errs), want)
	}
}
