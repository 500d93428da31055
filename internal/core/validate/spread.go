package validate

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// spreadTwice rejects two constraints with the same topologyKey and whenUnsatisfiable, as the API server does.
func spreadTwice(c *checks) {
	type constrained struct {
		key  string
		when corev1.UnsatisfiableConstraintAction
	}
	first := map[constrained]int{}
	for i, constraint := range c.workload().TopologySpreadConstraints {
		this := constrained{constraint.TopologyKey, constraint.WhenUnsatisfiable}
		j, twice := first[this]
		if !twice {
			first[this] = i
			continue
		}
		c.InvalidText(spec("workload", "topologySpreadConstraints").Index(i), this.key,
			`is also the topologyKey of topologySpreadConstraints[%d], and both entries have whenUnsatisfiable %s: remove one of the two entries`, j, this.when)
	}
}

// spreadOfNothing warns about a constraint without a selector, because such a constraint counts no pods.
func spreadOfNothing(c *checks) []string {
	var warnings []string
	for i, constraint := range c.workload().TopologySpreadConstraints {
		if constraint.LabelSelector == nil {
			warnings = append(warnings, fmt.Sprintf(
				"%s: without a labelSelector, the constraint counts no pods and has no effect: add labelSelector: {matchLabels: {%s: %s}}",
				spec("workload", "topologySpreadConstraints").Index(i), names.LabelInstance, c.Name))
		}
	}
	return warnings
}
