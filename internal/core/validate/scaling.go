package validate

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/profile"
)

// scaledTwice warns about replicas that have no effect, because an autoscaler sets the number of pods. The autoscaler
// of a v1alpha1 stack never scales below the value of replicas, and 0 replicas stop every stack. The API server sets 1
// if the user sets no number.
func scaledTwice(c *checks) []string {
	replicas := c.workload().Replicas
	if replicas == nil || *replicas <= 1 || c.workload().Autoscaling == nil || profile.Of(c.Annotations).ReplicasAreLeast {
		return nil
	}
	return []string{fmt.Sprintf("%s: %d has no effect, because the autoscaler sets the number of pods; remove replicas, or set %s",
		spec("workload", "replicas"), *replicas, spec("workload", "autoscaling", "minReplicas"))}
}

// leastPods returns the number of pods while the load is low.
func (c *checks) leastPods() int32 {
	replicas := ptr.Deref(c.workload().Replicas, 1)
	autoscaling := c.workload().Autoscaling
	if autoscaling == nil || replicas == 0 {
		return replicas
	}
	least := ptr.Deref(autoscaling.MinReplicas, 1)
	if profile.Of(c.Annotations).ReplicasAreLeast {
		return max(least, replicas)
	}
	return least
}

// endlessDrain warns about a disruption budget that never allows a pod to be evicted, so that the drain of its node
// never ends.
func endlessDrain(c *checks) []string {
	budget, pods := c.workload().PodDisruptionBudget, c.leastPods()
	if budget == nil || pods < 1 {
		return nil
	}
	name, value := "minAvailable", budget.MinAvailable
	if value == nil {
		name, value = "maxUnavailable", budget.MaxUnavailable
	}
	if value == nil {
		return nil
	}
	// Kubernetes rounds both percentages up.
	allowed, err := intstr.GetScaledValueFromIntOrPercent(value, int(pods), true)
	if name == "minAvailable" {
		allowed = int(pods) - allowed
	}
	if err != nil || allowed > 0 {
		return nil
	}
	noun := "pods"
	if pods == 1 {
		noun = "pod"
	}
	return []string{fmt.Sprintf("%s: %q of %d %s allows no eviction, so the drain of a node with such a pod never ends; use maxUnavailable: 1, or run more pods",
		spec("workload", "podDisruptionBudget", name), value, pods, noun)}
}
