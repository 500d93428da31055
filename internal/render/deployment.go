package render

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
)

const (
	// progressDeadline in seconds: the ten minutes a server may take to start (startupSeconds), and five to pull its
	// image and to be placed.
	progressDeadline = startupSeconds + 300
	// revisionHistory is how many old ReplicaSets stay for a rollback; their ConfigMaps stay with them.
	revisionHistory = 10
)

// deployment runs the server. Everything of the pod goes out in this one object, so that image, configuration and
// environment never change apart from each other.
func deployment(in Input) (*appsv1ac.DeploymentApplyConfiguration, error) {
	template, err := podTemplate(in)
	if err != nil {
		return nil, err
	}
	spec := appsv1ac.DeploymentSpec().
		WithRevisionHistoryLimit(revisionHistory).
		WithProgressDeadlineSeconds(progressDeadline).
		WithSelector(metav1ac.LabelSelector().WithMatchLabels(names.Selector(in.Stack.Name))).
		WithStrategy(strategy(&in.Stack.Spec)).
		WithTemplate(template)
	if !Autoscaled(&in.Stack.Spec) {
		spec.WithReplicas(Replicas(&in.Stack.Spec))
	}
	return owned(in, appsv1ac.Deployment, names.Deployment(in.Stack.Name)).
		WithSpec(spec), nil
}

// Replicas is the number of pods that the spec asks for.
func Replicas(spec *v1alpha2.LlamaStackDistributionSpec) int32 {
	if wanted := workload(spec).Replicas; wanted != nil {
		return *wanted
	}
	return 1
}

// strategy keeps serving while new pods start, unless old and new pods would fight over a volume.
func strategy(spec *v1alpha2.LlamaStackDistributionSpec) *appsv1ac.DeploymentStrategyApplyConfiguration {
	storage := workload(spec).Storage
	return strategyFor(storage != nil && exclusive(accessModes(storage)))
}

// WithAccessModes is a copy of a rendered Deployment that replaces its pods as a volume with these access modes allows,
// whatever the spec asks for.
func WithAccessModes(
	rendered *appsv1ac.DeploymentApplyConfiguration, modes []corev1.PersistentVolumeAccessMode,
) *appsv1ac.DeploymentApplyConfiguration {
	deployment, spec := *rendered, *rendered.Spec
	deployment.Spec = spec.WithStrategy(strategyFor(exclusive(modes)))
	return &deployment
}

func strategyFor(exclusive bool) *appsv1ac.DeploymentStrategyApplyConfiguration {
	if exclusive {
		return appsv1ac.DeploymentStrategy().WithType(appsv1.RecreateDeploymentStrategyType)
	}
	return appsv1ac.DeploymentStrategy().
		WithType(appsv1.RollingUpdateDeploymentStrategyType).
		WithRollingUpdate(appsv1ac.RollingUpdateDeployment().
			WithMaxSurge(intstr.FromString("25%")).
			WithMaxUnavailable(intstr.FromInt32(0)))
}
