package render

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

const (
	// progressDeadline is in seconds: ten minutes for the server to start (startupSeconds), and five minutes to schedule
	// the pod and pull its image.
	progressDeadline = startupSeconds + 300
	// revisionHistory is the number of old ReplicaSets to keep for a rollback. The operator also keeps their ConfigMaps.
	revisionHistory = 10
)

// deployment returns the Deployment of the server. All parts of the pod are in this one object, so that image,
// configuration and environment never change separately.
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

// Replicas returns the number of pods in the spec, or 1 if the spec sets no number.
func Replicas(spec *v1alpha2.LlamaStackDistributionSpec) int32 {
	if wanted := workload(spec).Replicas; wanted != nil {
		return *wanted
	}
	return 1
}

// strategy returns a strategy with which old pods serve requests while new pods start, unless old and new pods need the
// same exclusive volume.
func strategy(spec *v1alpha2.LlamaStackDistributionSpec) *appsv1ac.DeploymentStrategyApplyConfiguration {
	storage := workload(spec).Storage
	return strategyFor(storage != nil && exclusive(accessModes(storage)))
}

// WithAccessModes returns a copy of a rendered Deployment with the strategy for a volume with the given access modes,
// regardless of the spec.
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
