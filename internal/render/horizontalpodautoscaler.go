package render

import (
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	autoscalingv2ac "k8s.io/client-go/applyconfigurations/autoscaling/v2"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
)

// defaultCPUUtilization is what is aimed at when the user names no target, in percent.
const defaultCPUUtilization int32 = 80

// horizontalPodAutoscaler changes the Deployment's replicas with its load.
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

// Autoscaled says that an autoscaler has the Deployment's replicas. Zero in the spec stops the server all the same: a
// Deployment without replicas is one that autoscalers leave alone.
func Autoscaled(spec *v1alpha2.LlamaStackDistributionSpec) bool {
	return workload(spec).Autoscaling != nil && Replicas(spec) != 0
}

// LeastAutoscaled is the number of replicas that an autoscaler keeps at the least. A stack of v1alpha1 never goes below
// its own replicas, which a disruption budget beside it may count on.
func LeastAutoscaled(stack *v1alpha2.LlamaStackDistribution) int32 {
	least := int32(1)
	if autoscaling := workload(&stack.Spec).Autoscaling; autoscaling != nil && autoscaling.MinReplicas != nil {
		least = *autoscaling.MinReplicas
	}
	if names.Compat(stack.Annotations) {
		return max(least, Replicas(&stack.Spec))
	}
	return least
}
