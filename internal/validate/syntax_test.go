package validate

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// The patterns in Go are identical to those of the rules in the CRD.
func TestFormsAreThoseOfTheDefinition(t *testing.T) {
	data, err := os.ReadFile("../../config/crd/bases/llamastack.io_llamastackdistributions.yaml")
	if err != nil {
		t.Fatal(err)
	}
	// A folded YAML scalar may break at a space, and no pattern contains one.
	text := strings.Join(strings.Fields(string(data)), " ")
	for name, form := range map[string]*regexp.Regexp{
		"subdomain": subdomainForm, "data key": dataKeyForm, "id": idForm, "image": imageForm, "dotted path": dottedForm,
		"namespace": namespaceForm, "selector": selectorForm, "absolute path": absoluteForm, "dots": dotsForm,
		"percentage": percentageForm,
	} {
		if !strings.Contains(text, "matches('"+form.String()+"')") &&
			!strings.Contains(text, "matches(''"+form.String()+"'')") {
			t.Errorf("the definition has no rule with the form of %s, %s", name, form)
		}
	}
}

func TestNameFormIsThatOfThePolicy(t *testing.T) {
	data, err := os.ReadFile("../../config/policy/validatingadmissionpolicy.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for name, form := range map[string]*regexp.Regexp{"name": labelForm, "id": idForm} {
		if !strings.Contains(string(data), "matches('"+form.String()+"')") {
			t.Errorf("the policy has no form of %s, %s", name, form)
		}
	}
}
