package render

import (
	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// avoidance is the weight of the only preference in affinity. It is the highest weight that Kubernetes allows.
const avoidance = 100

// spreadOver are the topology domains over which the pods of a stack are spread if possible, the widest first.
var spreadOver = []string{corev1.LabelTopologyRegion, corev1.LabelTopologyZone, corev1.LabelHostname}

// spreadConstraints returns the user's constraints or, if there are none, a preference for different regions, zones and
// nodes. A stack with one replica also has this preference, although the preference has no effect in this case. If the
// template depended on the number of replicas, scaling would replace the pods.
func spreadConstraints(in Input) ([]*corev1ac.TopologySpreadConstraintApplyConfiguration, error) {
	if given := workload(&in.Stack.Spec).TopologySpreadConstraints; len(given) > 0 {
		return applyConfiguration[[]*corev1ac.TopologySpreadConstraintApplyConfiguration](
			"spec.workload.topologySpreadConstraints", given)
	}
	constraints := make([]*corev1ac.TopologySpreadConstraintApplyConfiguration, 0, len(spreadOver))
	for _, key := range spreadOver {
		constraints = append(constraints, corev1ac.TopologySpreadConstraint().
			WithMaxSkew(1).
			WithTopologyKey(key).
			WithWhenUnsatisfiable(corev1.ScheduleAnyway).
			WithLabelSelector(podSelector(in)))
	}
	return constraints, nil
}

// affinity returns a preference for running the pods of a stack on different nodes.
func affinity(in Input) *corev1ac.AffinityApplyConfiguration {
	return corev1ac.Affinity().WithPodAntiAffinity(corev1ac.PodAntiAffinity().
		WithPreferredDuringSchedulingIgnoredDuringExecution(corev1ac.WeightedPodAffinityTerm().
			WithWeight(avoidance).
			WithPodAffinityTerm(corev1ac.PodAffinityTerm().
				WithTopologyKey(corev1.LabelHostname).
				WithLabelSelector(podSelector(in)))))
}

func podSelector(in Input) *metav1ac.LabelSelectorApplyConfiguration {
	return metav1ac.LabelSelector().WithMatchLabels(names.Selector(in.Stack.Name))
}
