package validate

import (
	"bytes"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
)

// sized returns a stack with a host name, and with a setting of the given number of bytes.
func sized(bytes int) *v1alpha2.LlamaStackDistribution {
	obj := &v1alpha2.LlamaStackDistribution{}
	obj.Name = "demo"
	obj.Spec.Distribution.Name = "starter"
	obj.Spec.Networking = &v1alpha2.NetworkingSpec{Expose: &v1alpha2.Expose{Raw: []byte(`{"hostname":"a.example.com"}`)}}
	obj.Spec.Settings = &apiextensionsv1.JSON{Raw: []byte(`{"server":{"cors":"` + strings.Repeat("x", bytes) + `"}}`)}
	return obj
}

// Spec returns only one error for a spec that is too large, even after OmitLargeSpec, which keeps only the distribution
// and the host name.
func TestTooLarge(t *testing.T) {
	obj := sized(MaxSpecBytes)
	const want = "spec: 262266 bytes of JSON exceed the limit of 262144 for a spec: "
	for _, when := range []string{"as it is written", "as a cache stores it", "as a cache stores it after another event"} {
		_, _, errs := Spec(obj)
		if len(errs) != 1 || !strings.HasPrefix(intent.Message(errs[0]), want) {
			t.Errorf("%s: %v, want %q", when, errs, want)
		}
		OmitLargeSpec(obj)
	}
	if obj.Spec.Settings != nil || obj.Spec.Distribution.Name != "starter" || obj.Spec.Networking.Expose == nil {
		t.Errorf("the cache keeps %+v, want the distribution and the host name", obj.Spec)
	}
}

func TestWithinTheLimit(t *testing.T) {
	obj := sized(MaxSpecBytes - 1024)
	before := obj.DeepCopy()
	OmitLargeSpec(obj)
	if !bytes.Equal(obj.Spec.Settings.Raw, before.Spec.Settings.Raw) || obj.Annotations != nil {
		t.Error("a spec within the limit is changed")
	}
	if errs := tooLarge(obj); len(errs) > 0 {
		t.Errorf("a spec within the limit: %v", errs)
	}
}
