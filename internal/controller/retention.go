package controller

import (
	"context"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/retention"
	"github.com/llamastack/llama-stack-k8s-operator/internal/status"
)

// retention tells which data a change leaves behind before anything of it is written.
// What nothing brings back keeps the change waiting until the user accepts it.
func (r *Reconciler) retention(ctx context.Context, s *state) error {
	if s.decision.Replaces && s.running.Places == nil && s.deployment != nil {
		if err := r.lookBack(ctx, s); err != nil {
			return err
		}
	}
	if !s.decision.Replaces || len(s.planned.Losses) == 0 {
		return nil
	}
	if waiting, unknown := s.planned.Waiting(); len(waiting) > 0 {
		return notAccepted(waiting, unknown)
	}
	s.leaves = s.planned.Rendered.Record.Left
	message := leftMessage(s.leaves)
	told := meta.FindStatusCondition(s.object.Status.Conditions, v1alpha2.ConditionDataLeftBehind)
	if told == nil || told.Message != message {
		r.recorder.Eventf(s.object, nil, corev1.EventTypeWarning, v1alpha2.EventDataLeftBehind, eventAction, "%s", leftNote(s.leaves))
	}
	return nil
}

// notAccepted is the failure of a change that waits.
func notAccepted(waiting []retention.Loss, unknown []string) error {
	lines := make([]string, 0, len(waiting)+1)
	for _, loss := range waiting {
		lines = append(lines, loss.String())
	}
	lines = append(lines, "The pods that run stay as they are"+retention.Unknown(waiting, unknown))
	return &status.Failure{
		Condition: v1alpha2.ConditionDeploymentUpdated, Reason: v1alpha2.ReasonDataLossNotAccepted,
		Message: strings.Join(lines, "\n"), Retry: status.OnObjectChange,
	}
}

// leftMessage is what the condition says of data that was left behind.
func leftMessage(left []string) string { return strings.Join(left, "\n") }

// leftNote is the same for an event, which has less room: each gets its part.
func leftNote(left []string) string {
	lines := make([]string, 0, len(left))
	for _, line := range left {
		lines = append(lines, status.Shorten(line, maxNote/len(left)-1))
	}
	return strings.Join(lines, "\n")
}

// tellLeft notes the data that the last change of the pods left behind, or that this
// one is about to.
func (s *state) tellLeft() {
	left := s.running.Left
	switch {
	case s.leaves != nil:
		left = s.leaves
	case s.deployed:
		left = s.decision.Record.Left
	}
	if len(left) > 0 {
		s.holds(v1alpha2.ConditionDataLeftBehind, v1alpha2.ReasonDataLeftBehind, leftMessage(left))
	}
}

// lookBack finds where the data of what runs lies when its record does not tell, and
// plans anew with it: the plan may keep some of it reachable.
func (r *Reconciler) lookBack(ctx context.Context, s *state) error {
	places, err := r.runningPlaces(ctx, s)
	if err != nil {
		return err
	}
	s.running.Places = places
	if err := r.build(ctx, s, false); err != nil {
		return err
	}
	if err := derive(s); err != nil {
		return err
	}
	return r.claim(ctx, s)
}

// recall finds the table of a stack whose Deployment is gone: its data is not, and the
// configuration that was generated last still tells. Of places no more is known without
// a pod.
func (r *Reconciler) recall(ctx context.Context, s *state) error {
	name := s.object.Status.GeneratedConfigMap
	if s.deployment != nil || name == "" {
		return nil
	}
	var configMap corev1.ConfigMap
	if err := r.direct.Get(ctx, s.child(name), &configMap); err != nil {
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("read ConfigMap %q: %w", name, err)
	}
	places := plan.PlacesOf(plan.Running{
		Stack: s.object.Name, Distribution: s.distribution, Pod: &corev1.PodSpec{}, Config: []byte(configMap.Data[names.ConfigFile]),
	})
	places.Data, places.Volumes = nil, nil
	s.running.Places = places
	return nil
}

// runningPlaces reads the configuration that the Deployment mounts.
func (r *Reconciler) runningPlaces(ctx context.Context, s *state) (*retention.Places, error) {
	running := plan.Running{
		Stack: s.object.Name, Container: names.ServerContainer(s.object.Annotations), Pod: &s.deployment.Spec.Template.Spec,
	}
	running.Distribution = ranAs(s, running.Container)
	name, key := mountedConfig(s.deployment)
	if name != "" {
		var configMap corev1.ConfigMap
		err := r.direct.Get(ctx, s.child(name), &configMap)
		if client.IgnoreNotFound(err) != nil {
			return nil, fmt.Errorf("read ConfigMap %q: %w", name, err)
		}
		running.Override = apierrors.IsNotFound(err) || configMap.Labels[names.LabelConfig] != names.ConfigKindGenerated
		running.Config = []byte(configMap.Data[key])
	}
	return plan.PlacesOf(running), nil
}

// mountedConfig is the ConfigMap with the server's configuration, and its key; empty
// when the image's own runs.
func mountedConfig(deployment *appsv1.Deployment) (name, key string) {
	volumes := deployment.Spec.Template.Spec.Volumes
	i := slices.IndexFunc(volumes, func(v corev1.Volume) bool { return v.Name == names.ConfigVolume && v.ConfigMap != nil })
	if i < 0 {
		return "", ""
	}
	source := volumes[i].ConfigMap
	if len(source.Items) > 0 {
		return source.Name, source.Items[0].Key
	}
	return source.Name, names.ConfigFile
}

// ranAs is the distribution that a Deployment was made from, by its record or else by
// its image.
func ranAs(s *state, container string) distribution.Resolved {
	ran := s.running.Distribution
	if ran.Name != "" {
		if known, err := distribution.Resolve(ran.Name, "", ran.Release, nil); err == nil {
			return known
		}
	}
	image := ""
	containers := s.deployment.Spec.Template.Spec.Containers
	if i := slices.IndexFunc(containers, func(c corev1.Container) bool { return c.Name == container }); i >= 0 {
		image = containers[i].Image
	}
	known, err := distribution.Resolve("", image, ran.Release, nil)
	if err != nil { // no release that anybody knows: what was planned is the best guess, without its base
		known = s.distribution
		known.DetectedBy, known.Base = distribution.Unknown, nil
	}
	return known
}
