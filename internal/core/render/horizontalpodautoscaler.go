package render

import (
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	autoscalingv2ac "k8s.io/client-go/applyconfigurations/autoscaling/v2"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/profile"
)

// defaultCPUUtilization is the target CPU utilization in percent if the user sets no target.
const defaultCPUUtilization int32 = 80

// horizontalPodAutoscaler returns the autoscaler that changes the Deployment's number of replicas according to the load
// on the pods.
func horizontalPodAutoscaler(in Input) (*autoscalingv2ac.HorizontalPodAutoscalerApplyConfiguration, error) {
	autoscaling := workload(&in.Stack.Spec).Autoscaling
	if autoscaling == nil {
		return nil, nil
	}
	return owned(in, autoscalingv2ac.HorizontalPodAutoscaler, names.HorizontalPodAutoscaler(in.Stack.Name)).
		WithSpec(autoscalingv2ac.HorizontalPodAutoscalerSpec().
			WithScaleTargetRef(autoscalingv2ac.CrossVersionObjectReference().
				WithAPIVersion(appsv1.SchemeGroupVersion.String()).
				WithKind(deploymentKind.Kind).
				WithName(names.Deployment(in.Stack.Name))).
			WithMinReplicas(LeastAutoscaled(in.Stack)).
			WithMaxReplicas(max(autoscaling.MaxReplicas, LeastAutoscaled(in.Stack))).
			WithMetrics(metrics(autoscaling)...)), nil
}

func metrics(autoscaling *v1alpha2.AutoscalingSpec) []*autoscalingv2ac.MetricSpecApplyConfiguration {
	cpu, memory := autoscaling.TargetCPUUtilization, autoscaling.TargetMemoryUtilization
	if cpu == nil && memory == nil {
		cpu = new(defaultCPUUtilization)
	}
	var found []*autoscalingv2ac.MetricSpecApplyConfiguration
	for _, target := range []struct {
		resource corev1.ResourceName
		percent  *int32
	}{{corev1.ResourceCPU, cpu}, {corev1.ResourceMemory, memory}} {
		if target.percent == nil {
			continue
		}
		found = append(found, autoscalingv2ac.MetricSpec().
			WithType(autoscalingv2.ResourceMetricSourceType).
			WithResource(autoscalingv2ac.ResourceMetricSource().
				WithName(target.resource).
				WithTarget(autoscalingv2ac.MetricTarget().
					WithType(autoscalingv2.UtilizationMetricType).
					WithAverageUtilization(*target.percent))))
	}
	return found
}

// Autoscaled reports whether an autoscaler controls the Deployment's replicas. Zero replicas in the spec still stop the
// server, because autoscalers ignore a Deployment with zero replicas.
func Autoscaled(spec *v1alpha2.LlamaStackDistributionSpec) bool {
	return workload(spec).Autoscaling != nil && Replicas(spec) != 0
}

// LeastAutoscaled returns the minimum number of replicas for an autoscaler. For a v1alpha1 stack, it is never less than
// the stack's own replicas, because a disruption budget can depend on them.
func LeastAutoscaled(stack *v1alpha2.LlamaStackDistribution) int32 {
	least := int32(1)
	if autoscaling := workload(&stack.Spec).Autoscaling; autoscaling != nil && autoscaling.MinReplicas != nil {
		least = *autoscaling.MinReplicas
	}
	if profile.Of(stack.Annotations).ReplicasAreLeast {
		return max(least, Replicas(&stack.Spec))
	}
	return least
}
