package installation

import (
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha1"
	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// conversionUntrusted is the condition that the operator sets while the API server does not trust the operator's
// conversion webhook.
const conversionUntrusted = "llamastack.io/ConversionUntrusted"

func checkDefinition(r *report, facts *Facts) {
	definition := facts.Definition.Value
	switch {
	case facts.Definition.Problem != "":
		r.unknown("the definition", facts.Definition.Problem)
		return
	case definition == nil:
		r.add(Error, fmt.Sprintf("CustomResourceDefinition %q does not exist", names.CustomResourceDefinition), install)
		return
	}
	checkServed(r, definition)
	checkStored(r, definition)
	checkConditions(r, definition)
}

// checkServed compares the served versions with the API versions that the operator supports.
func checkServed(r *report, definition *apiextensionsv1.CustomResourceDefinition) {
	var served []string
	for _, version := range definition.Spec.Versions {
		if version.Served {
			served = append(served, version.Name)
		}
	}
	if slices.Contains(served, v1alpha2.GroupVersion.Version) {
		r.ok("the definition serves " + list(served))
		return
	}
	if slices.Contains(served, v1alpha1.GroupVersion.Version) {
		r.add(Error, "the definition belongs to the previous operator and serves only v1alpha1", reinstall)
		return
	}
	r.add(Error, fmt.Sprintf("the definition does not serve v1alpha2, only %q", list(served)), reinstall)
}

// checkStored compares the stored versions with the storage version.
func checkStored(r *report, definition *apiextensionsv1.CustomResourceDefinition) {
	storage := ""
	for _, version := range definition.Spec.Versions {
		if version.Storage {
			storage = version.Name
		}
	}
	stored := definition.Status.StoredVersions
	if len(stored) == 0 || slices.Equal(stored, []string{storage}) {
		r.ok("stacks are stored in " + storage)
		return
	}
	r.add(Warning, fmt.Sprintf("the storage version is %s, but some stacks might still be stored in another version (stored "+
		"versions: %s)", storage, list(stored)),
		"wait until the operator has migrated the stacks, or run: kubectl llamastack migrate --storage "+storage)
}

func checkConditions(r *report, definition *apiextensionsv1.CustomResourceDefinition) {
	for _, condition := range definition.Status.Conditions {
		switch holds := condition.Status == apiextensionsv1.ConditionTrue; {
		case condition.Type == conversionUntrusted && holds:
			r.add(Error, fmt.Sprintf("condition %s: %s", condition.Type, condition.Message), "see docs/reference/webhooks.md")
		case (condition.Type == apiextensionsv1.Established || condition.Type == apiextensionsv1.NamesAccepted) && !holds:
			r.add(Error, fmt.Sprintf("condition %s is %s: %s", condition.Type, condition.Status, condition.Message),
				"remove the other definition with the same names, and "+reinstall)
		}
	}
}
