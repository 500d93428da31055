package validate

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
)

// FuzzSpec checks for any stored object that Spec returns errors with a path and a message, that a second run has the
// same result, and that Spec does not change the object.
func FuzzSpec(f *testing.F) {
	for _, c := range loadCases(f).Cases {
		if data, err := json.Marshal(c.Object["spec"]); err == nil {
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		obj := &v1alpha2.LlamaStackDistribution{}
		obj.Name = "my-stack"
		if json.Unmarshal(data, &obj.Spec) != nil {
			return
		}
		before := obj.DeepCopy()
		_, warnings, errs := Spec(obj)
		_, again, errsAgain := Spec(before)
		if !slices.Equal(warnings, again) || intent.Messages(errs) != intent.Messages(errsAgain) {
			t.Errorf("two runs have different results: %v and %v", errs, errsAgain)
		}
		for _, err := range errs {
			if !strings.HasPrefix(err.Field, "spec") || err.Error() == "" {
				t.Errorf("no path: %v", err)
			}
		}
		a, errA := json.Marshal(before)
		b, errB := json.Marshal(obj)
		if (errA == nil) != (errB == nil) || !bytes.Equal(a, b) {
			t.Errorf("the object was changed from %s to %s", a, b)
		}
	})
}
