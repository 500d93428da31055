package planning

import (
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/retention"
)

// places returns the places where the data of a stack is stored: as recorded, or according to the configuration of the
// Deployment if another program wrote it. Nil means that the places are unknown.
func (p *Planner) places(
	ctx context.Context, stack *stack, workload *workload, image *distribution.Resolved,
) (*retention.Places, error) {
	switch {
	case workload.Deployment == nil:
		return p.placesOfLast(ctx, stack, image)
	case workload.Record.Places == nil:
		return p.runningPlaces(ctx, stack, workload, *image)
	default:
		return workload.Record.Places, nil
	}
}

// placesOfLast returns the stores in the last generated configuration of a stack whose Deployment no longer exists. The
// data may still exist. Without a pod, the other places are unknown. placesOfLast returns nil if there is no such
// configuration.
func (p *Planner) placesOfLast(
	ctx context.Context, stack *stack, image *distribution.Resolved,
) (*retention.Places, error) {
	name := stack.Status.GeneratedConfigMap()
	if name == "" {
		return nil, nil
	}
	var configMap corev1.ConfigMap
	if err := p.Direct.Get(ctx, types.NamespacedName{Namespace: stack.Namespace, Name: name}, &configMap); err != nil {
		if apierrors.IsNotFound(err) {
			return nil, nil
		}
		return nil, fmt.Errorf("read ConfigMap %q: %w", name, err)
	}
	places := plan.PlacesOf(plan.Running{
		Stack: stack.Name, Distribution: *image, Pod: &corev1.PodSpec{}, Config: []byte(configMap.Data[names.ConfigFile]),
	})
	places.Data, places.Volumes = nil, nil
	return places, nil
}

// runningPlaces returns the places where the data is stored, according to the configuration that the Deployment mounts.
func (p *Planner) runningPlaces(
	ctx context.Context, stack *stack, workload *workload, planned distribution.Resolved,
) (*retention.Places, error) {
	running := plan.Running{
		Stack: stack.Name, Container: names.ServerContainer(stack.Annotations), Pod: &workload.Deployment.Spec.Template.Spec,
	}
	running.Distribution = ranAs(stack, workload, planned)
	name, key := mountedConfig(workload.Deployment)
	if name != "" {
		var configMap corev1.ConfigMap
		err := p.Direct.Get(ctx, types.NamespacedName{Namespace: stack.Namespace, Name: name}, &configMap)
		if client.IgnoreNotFound(err) != nil {
			return nil, fmt.Errorf("read ConfigMap %q: %w", name, err)
		}
		running.Override = apierrors.IsNotFound(err) || configMap.Labels[names.LabelConfig] != names.ConfigKindGenerated
		running.Config = []byte(configMap.Data[key])
	}
	return plan.PlacesOf(running), nil
}

// mountedConfig returns the name of the ConfigMap with the server's configuration, and its key. Both are empty if the
// server uses the image's own configuration.
func mountedConfig(deployment *appsv1.Deployment) (name, key string) {
	volumes := deployment.Spec.Template.Spec.Volumes
	i := slices.IndexFunc(volumes, func(v corev1.Volume) bool {
		return v.Name == names.ConfigVolume &&
			v.ConfigMap != nil
	})
	if i < 0 {
		return "", ""
	}
	source := volumes[i].ConfigMap
	if len(source.Items) > 0 {
		return source.Name, source.Items[0].Key
	}
	return source.Name, names.ConfigFile
}

// ranAs returns the distribution that a Deployment was rendered for, according to its record or, if the record does not
// name a known distribution, according to its image.
func ranAs(stack *stack, workload *workload, planned distribution.Resolved) distribution.Resolved {
	ran := workload.Record.Distribution
	if ran.Name != "" {
		if known, err := distribution.Resolve(ran.Name, "", ran.Release, nil); err == nil {
			return known
		}
	}
	image := render.ServerImage(stack, &workload.Deployment.Spec.Template.Spec)
	known, err := distribution.Resolve("", image, ran.Release, nil)
	if err != nil { // the release is unknown: use the planned distribution without its base
		known = planned
		known.DetectedBy, known.Base = distribution.Unknown, nil
	}
	return known
}
