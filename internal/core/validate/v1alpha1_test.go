package validate

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// For a v1alpha1 stack, violations of rules that its version did not have are warnings instead of errors.
func TestStacksOfV1alpha1AreNotRefused(t *testing.T) {
	warned := map[string]bool{}
	for _, c := range loadCases(t).Cases {
		object, err := c.Decode()
		if err != nil {
			continue
		}
		var broken []string
		others := false
		for _, r := range rules {
			if len(r.find(checksOf(object))) > 0 {
				broken = append(broken, r.name)
				others = others || !r.newInV1alpha2
			}
		}
		if len(broken) == 0 || others {
			continue
		}
		before := len(suspicious(checksOf(object)))
		metav1.SetMetaDataAnnotation(&object.ObjectMeta, names.AnnotationCompat, names.CompatV1Alpha1)
		_, warnings, errs := Spec(object)
		if len(errs) > 0 || len(warnings) <= before {
			t.Errorf("%s/%s breaks %q: errors %v, warnings %q", c.Topic, c.Name, broken, errs, warnings)
		}
		for _, name := range broken {
			warned[name] = true
		}
	}
	for _, r := range rules {
		if r.newInV1alpha2 && !warned[r.name] {
			t.Errorf("rule %s: no case breaks it alone", r.name)
		}
	}
}
