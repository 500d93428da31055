package validate

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
)

// spreadTwice: the API server refuses two constraints that differ in neither
// topologyKey nor whenUnsatisfiable.
func spreadTwice(obj *object) field.ErrorList {
	var errs field.ErrorList
	constraints := workload(obj).TopologySpreadConstraints
	for i, constraint := range constraints {
		for j, earlier := range constraints[:i] {
			if earlier.TopologyKey == constraint.TopologyKey && earlier.WhenUnsatisfiable == constraint.WhenUnsatisfiable {
				path := spec("workload", "topologySpreadConstraints").Index(i)
				errs = append(errs, field.Invalid(path, constraint.TopologyKey, fmt.Sprintf(
					`%q with %s is constrained by entry %d already: remove one of them`,
					constraint.TopologyKey, constraint.WhenUnsatisfiable, j)))
				break
			}
		}
	}
	return errs
}

// spreadOfNothing: a constraint without selector counts no pods.
func spreadOfNothing(obj *object) []string {
	var warnings []string
	for i, constraint := range workload(obj).TopologySpreadConstraints {
		if constraint.LabelSelector == nil {
			warnings = append(warnings, fmt.Sprintf(
				"%s: counts no pods without a labelSelector, so it spreads nothing: add labelSelector: {matchLabels: {%s: %s}}",
				spec("workload", "topologySpreadConstraints").Index(i), names.LabelInstance, obj.Name))
		}
	}
	return warnings
}
