package validate

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
)

// spreadTwice: the API server refuses two constraints that differ in neither
// topologyKey nor whenUnsatisfiable.
func spreadTwice(obj *object) field.ErrorList {
	type constrained struct {
		key  string
		when corev1.UnsatisfiableConstraintAction
	}
	var errs field.ErrorList
	first := map[constrained]int{}
	for i, constraint := range workload(obj).TopologySpreadConstraints {
		this := constrained{constraint.TopologyKey, constraint.WhenUnsatisfiable}
		j, twice := first[this]
		if !twice {
			first[this] = i
			continue
		}
		errs = append(errs, field.Invalid(spec("workload", "topologySpreadConstraints").Index(i), this.key, fmt.Sprintf(
			`%q with %s is constrained by entry %d already: remove one of them`, this.key, this.when, j)))
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
