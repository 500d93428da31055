package controller

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/apply"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/status"
)

// preflightRetry is the least time between two pods for one change, where the first
// ended for a reason that was not in it.
const preflightRetry = 5 * time.Minute

// preflight tries a change of what the pods run in a pod of its own before anything
// of it reaches them. All that is known of it stands in the cluster: the pod has the
// change in its name and its outcome in its status, and stays, stopped, when it
// failed. Once it is ready, apply goes on, and prune removes it.
func (r *Reconciler) preflight(ctx context.Context, s *state) error {
	wanted := s.decision.Deployment.Spec.Replicas
	if !s.decision.Replaces || wanted != nil && *wanted == 0 || !s.planned.TriesChanges() {
		return nil
	}
	name, err := s.planned.PreflightName()
	if err != nil {
		return err
	}
	tried, err := r.tried(ctx, s, r.cache)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(tried, func(pod corev1.Pod) bool { return pod.Name == name })
	// Without a pod that serves there is nothing to keep. Who began goes on: a pod that
	// is away for a moment is no reason to make a change that does not start.
	serves := s.deployment != nil && s.deployment.Status.AvailableReplicas > 0
	if i < 0 && !serves {
		return nil
	}
	if err := r.dropTries(ctx, s, name); err != nil {
		return err
	}
	if i < 0 {
		return r.startPreflight(ctx, s, name)
	}
	return r.judgePreflight(ctx, s, &tried[i])
}

// tried are the stack's pods in which a change is or was tried.
func (r *Reconciler) tried(ctx context.Context, s *state, reader client.Reader) ([]corev1.Pod, error) {
	var pods corev1.PodList
	selector := client.MatchingLabels(names.PreflightSelector(s.object.Name))
	if err := reader.List(ctx, &pods, client.InNamespace(s.object.Namespace), selector); err != nil {
		return nil, fmt.Errorf("list pods in which a change is tried: %w", err)
	}
	return slices.DeleteFunc(pods.Items, func(pod corev1.Pod) bool { return !metav1.IsControlledBy(&pod, s.object) }), nil
}

// dropTries deletes what other changes were tried with, and the configurations that
// only they had.
func (r *Reconciler) dropTries(ctx context.Context, s *state, name string) error {
	keep, err := r.kept(ctx, s)
	if err != nil {
		return err
	}
	_, err = r.applier.Prune(ctx, s.owner(), render.PreflightKinds(), func(child apply.Child) bool {
		if strings.HasPrefix(child.Name, names.PreflightPrefix(s.object.Name)) {
			return child.Name == name
		}
		return keep[child] || child.Kind.Kind != kindConfigMap
	})
	return err
}

// startPreflight makes the pod, unless there still is another or it is not let in.
func (r *Reconciler) startPreflight(ctx context.Context, s *state, name string) error {
	there, err := r.tried(ctx, s, r.direct) // past the cache, which may not have seen our last one
	if err != nil {
		return err
	}
	if len(there) > 0 {
		return preflightGoesOn(there[0].Name, "")
	}
	constraint, err := r.constraint(ctx, s)
	if err != nil {
		return err
	}
	if r.openShift && constraint == "" {
		s.skipPreflight("no pod that runs tells which security context constraint lets it in")
		return nil
	}
	err = r.applyMissing(ctx, s)
	if err == nil {
		err = r.applyPreflight(ctx, s, constraint)
	}
	switch {
	case err == nil:
		s.events = append(s.events, tell(v1alpha2.EventPreflightStarted,
			fmt.Sprintf("Pod %q tries the change with image %q before the pods that run are replaced", name, s.distribution.Image)))
		return preflightGoesOn(name, "")
	case refused(err):
		s.skipPreflight("the pod to try it in was refused: " + reasonOf(err))
		return nil
	default:
		return notOurs(err)
	}
}

// applyMissing applies what the pod shares with the pods to come and nothing else reads
// yet: configurations, what runs before the server starts, and a ServiceAccount.
func (r *Reconciler) applyMissing(ctx context.Context, s *state) error {
	for i := range s.claims {
		claim := &s.claims[i]
		shared := claim.Wanted.GetKind() == kindServiceAccount || claim.Wanted.Object["immutable"] == true ||
			claim.Wanted.GetKind() == kindConfigMap && claim.Wanted.GetName() == names.Startup(s.object.Name)
		if !shared || claim.Live != nil {
			continue
		}
		applied, err := r.applier.Set(ctx, s.owner(), []apply.Desired{*claim})
		if err != nil {
			return err
		}
		claim.Live = applied[0].Object
	}
	return nil
}

// constraint is the security context constraint of OpenShift that let in the newest pod
// that serves. OpenShift would let the pod of a preflight in by the operator's rights,
// too, because the operator makes it; the constraint of a pod that a ReplicaSet made was
// decided by the rights of its ServiceAccount alone. Empty: no pod tells one.
func (r *Reconciler) constraint(ctx context.Context, s *state) (string, error) {
	if !r.openShift {
		return "", nil
	}
	pods, err := r.pods(ctx, s)
	if err != nil {
		return "", err
	}
	var newest *corev1.Pod
	for i := range pods {
		pod := &pods[i]
		if !s.controls(pod) || !isPodReady(pod) || pod.Annotations[names.AnnotationConstraint] == "" {
			continue
		}
		if newest == nil || newest.CreationTimestamp.Before(&pod.CreationTimestamp) {
			newest = pod
		}
	}
	if newest == nil {
		return "", nil
	}
	return newest.Annotations[names.AnnotationConstraint], nil
}

// controls reports whether the pod is one of the Deployment's: anybody can make a pod
// with its labels and with annotations.
func (s *state) controls(pod *corev1.Pod) bool {
	return slices.ContainsFunc(s.replicaSets, func(set appsv1.ReplicaSet) bool {
		return s.deployment != nil && metav1.IsControlledBy(&set, s.deployment) && metav1.IsControlledBy(pod, &set)
	})
}

func isPodReady(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

func (r *Reconciler) applyPreflight(ctx context.Context, s *state, constraint string) error {
	objects, err := s.planned.PreflightObjects(s.derived, constraint)
	if err != nil {
		return err
	}
	wanted := make([]*unstructured.Unstructured, 0, len(objects))
	for _, object := range objects {
		converted, err := render.Unstructured(object)
		if err != nil {
			return err
		}
		wanted = append(wanted, converted)
	}
	claims, err := r.applier.CheckOwnership(ctx, s.owner(), wanted)
	if err != nil {
		return err
	}
	_, err = r.applier.Set(ctx, s.owner(), claims)
	return err
}

// refused says that the API server does not let an object in: a quota, a policy,
// Pod Security, a webhook, whatever code that answers with.
func refused(err error) bool {
	answer := apierrors.APIStatus(nil)
	if !errors.As(err, &answer) || passing(err) {
		return false
	}
	code := answer.Status().Code
	return code >= http.StatusBadRequest && code < http.StatusInternalServerError &&
		code != http.StatusUnauthorized && code != http.StatusNotFound
}

// judgePreflight lets the change through when the pod is ready or has no place.
func (r *Reconciler) judgePreflight(ctx context.Context, s *state, pod *corev1.Pod) error {
	if pod.DeletionTimestamp != nil {
		return preflightGoesOn(pod.Name, "")
	}
	verdict := status.JudgePreflight(pod, render.PreflightDeadline, r.now())
	if !verdict.Until.IsZero() {
		s.wakeAt(verdict.Until)
	}
	switch verdict.State {
	case status.PreflightReady:
		return nil
	case status.PreflightUnplaced:
		s.skipPreflight(verdict.Message)
		return nil
	case status.PreflightCrashed:
		return preflightFailed(pod.Name, verdict.Message,
			"change the spec or what it refers to, or delete the pod to try again", status.OnObjectChange)
	case status.PreflightHindered:
		return preflightFailed(pod.Name, verdict.Message, "the node tries again", status.OnReferenceChange)
	case status.PreflightLost:
		return r.replacePreflight(ctx, s, pod, verdict.Message)
	case status.PreflightGoesOn:
	}
	return preflightGoesOn(pod.Name, verdict.Message)
}

// replacePreflight deletes a pod that was lost, after a while, for another to take
// its place once it is gone.
func (r *Reconciler) replacePreflight(ctx context.Context, s *state, pod *corev1.Pod, why string) error {
	if again := status.StartOf(pod).Add(preflightRetry); r.now().Before(again) {
		s.wakeAt(again)
		return preflightFailed(pod.Name, why, "another pod takes its place", status.OnReferenceChange)
	}
	if err := r.dropTries(ctx, s, ""); err != nil {
		return err
	}
	return preflightGoesOn(pod.Name, why)
}

func (s *state) skipPreflight(why string) {
	s.events = append(s.events, warn(v1alpha2.EventPreflightSkipped, "The change is made without a try: "+why))
}

func preflightGoesOn(pod, why string) error {
	message := fmt.Sprintf("Pod %q tries the change; the pods that run stay until it is ready", pod)
	if why != "" {
		message += ": " + why
	}
	return &status.Failure{
		Condition: v1alpha2.ConditionDeploymentUpdated, Reason: v1alpha2.ReasonPreflightInProgress,
		Message: message, Retry: status.OnReferenceChange, Unknown: true,
	}
}

func preflightFailed(pod, why, next string, retry status.Retry) error {
	return &status.Failure{
		Condition: v1alpha2.ConditionDeploymentUpdated, Reason: v1alpha2.ReasonPreflightFailed, Retry: retry,
		Message: fmt.Sprintf("Pod %q tries the change and does not become ready: %s. The pods that run stay as they are; %s", pod, why, next),
	}
}
