package validate

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// The patterns in Go are identical to those of the rules in the CRD.
func TestPatternsMatchTheCRD(t *testing.T) {
	data, err := os.ReadFile("../../../config/crd/bases/llamastack.io_llamastackdistributions.yaml")
	if err != nil {
		t.Fatal(err)
	}
	// A folded YAML scalar may break at a space, so line breaks are replaced with spaces. No pattern contains a space.
	text := strings.Join(strings.Fields(string(data)), " ")
	for name, form := range map[string]*regexp.Regexp{
		"subdomain": subdomainForm, "data key": dataKeyForm, "id": idForm, "image": imageForm, "dotted path": dottedForm,
		"namespace": namespaceForm, "selector": selectorForm, "absolute path": absoluteForm, "dots": dotsForm,
		"percentage": percentageForm,
	} {
		if !strings.Contains(text, "matches('"+form.String()+"')") &&
			!strings.Contains(text, "matches(''"+form.String()+"'')") {
			t.Errorf("the CRD has no rule with the pattern of %s, %s", name, form)
		}
	}
}

func TestNamePatternMatchesThePolicy(t *testing.T) {
	data, err := os.ReadFile("../../../config/policy/validatingadmissionpolicy.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for name, form := range map[string]*regexp.Regexp{"name": labelForm, "id": idForm} {
		if !strings.Contains(string(data), "matches('"+form.String()+"')") {
			t.Errorf("the policy does not contain the pattern of %s, %s", name, form)
		}
	}
}
