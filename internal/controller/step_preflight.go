package controller

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/apply"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/status"
)

// preflightRetry is the minimum time between two pods for one change, if the first pod ended for a reason outside the
// change.
const preflightRetry = 5 * time.Minute

// preflight tries a change of the pods in a separate pod before any of it reaches the running pods. All state is in
// the cluster: the pod's name identifies the change, its status holds the outcome, and a failed pod stays, stopped.
// Once the pod is ready, apply continues, and prune deletes the pod.
func (r *Reconciler) preflight(
	ctx context.Context, stack *stack, workload *workload, made *planned, own *owned, report *report,
) error {
	wanted := own.decision.Deployment.Spec.Replicas
	if !own.decision.Replaces || wanted != nil && *wanted == 0 || !made.plan.TriesChanges() {
		return nil
	}
	name, err := made.plan.PreflightName()
	if err != nil {
		return err
	}
	tried, err := tried(ctx, stack, r.cache)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(tried, func(pod corev1.Pod) bool { return pod.Name == name })
	// Without a pod that serves, there is nothing to protect. A preflight that has begun continues even then: a pod
	// that is briefly unavailable must not cause a change that does not start to be applied.
	serves := workload.deployment != nil && workload.deployment.Status.AvailableReplicas > 0
	if i < 0 && !serves {
		return nil
	}
	dropOthers := func(name string) error { return r.dropTries(ctx, stack, workload, own, name) }
	if err := dropOthers(name); err != nil {
		return err
	}
	if i < 0 {
		return r.startPreflight(ctx, stack, workload, made, own, name, report)
	}
	return r.judgePreflight(&tried[i], externalProviders(made.input.Intent, made.plan, made.input.Packages), dropOthers,
		report)
}

// tried returns the stack's preflight pods.
func tried(ctx context.Context, stack *stack, reader client.Reader) ([]corev1.Pod, error) {
	var pods corev1.PodList
	selector := client.MatchingLabels(names.PreflightSelector(stack.Name))
	if err := reader.List(ctx, &pods, client.InNamespace(stack.Namespace), selector); err != nil {
		return nil, fmt.Errorf("list pods in which a change is tried: %w", err)
	}
	return slices.DeleteFunc(pods.Items, func(pod corev1.Pod) bool { return !metav1.IsControlledBy(&pod, stack) }), nil
}

// dropTries deletes the objects of other changes' preflights, and the configurations that only they used.
func (r *Reconciler) dropTries(ctx context.Context, stack *stack, workload *workload, own *owned, name string) error {
	keep, err := r.kept(ctx, stack, workload, own)
	if err != nil {
		return err
	}
	_, err = r.applier.Prune(ctx, ownerOf(stack), render.PreflightKinds(), func(child apply.Child) bool {
		if strings.HasPrefix(child.Name, names.PreflightPrefix(stack.Name)) {
			return child.Name == name
		}
		return keep[child] || child.Kind.Kind != kindConfigMap
	})
	return err
}

// startPreflight creates the pod, unless another one still exists or admission rejects it.
func (r *Reconciler) startPreflight(
	ctx context.Context, stack *stack, workload *workload, made *planned, own *owned, name string, report *report,
) error {
	there, err := tried(ctx, stack, r.direct) // without the cache, which may lack the last pod
	if err != nil {
		return err
	}
	if len(there) > 0 {
		return preflightGoesOn(there[0].Name, "")
	}
	constraint, err := r.constraint(ctx, stack, workload)
	if err != nil {
		return err
	}
	if r.openShift && constraint == "" {
		skipPreflight("no running pod shows which security context constraint admits it", report)
		return nil
	}
	err = r.applyMissing(ctx, stack, own)
	if err == nil {
		err = r.applyPreflight(ctx, stack, made, constraint)
	}
	switch {
	case err == nil:
		report.normalEvent(v1alpha2.EventPreflightStarted, fmt.Sprintf(
			"Pod %q tries the change with image %q before the running pods are replaced", name, made.input.Distribution.Image))
		return preflightGoesOn(name, "")
	case rejected(err):
		skipPreflight("the preflight pod was rejected: "+reasonOf(err), report)
		return nil
	default:
		return notOurs(err)
	}
}

// applyMissing applies the objects that the pod shares with the future pods and that no other pod reads yet:
// configurations and a ServiceAccount. It also applies the startup ConfigMap, which the running pods read too, because
// the previous operator may have left out a part of it.
func (r *Reconciler) applyMissing(ctx context.Context, stack *stack, own *owned) error {
	for i := range own.desired {
		desired := &own.desired[i]
		startup := desired.Wanted.GetKind() == kindConfigMap && desired.Wanted.GetName() == names.Startup(stack.Name)
		shared := desired.Wanted.GetKind() == kindServiceAccount || desired.Wanted.Object["immutable"] == true
		if !startup && (!shared || desired.Live != nil) {
			continue
		}
		applied, err := r.applier.Set(ctx, ownerOf(stack), []apply.Desired{*desired})
		if err != nil {
			return err
		}
		desired.Live = applied[0].Object
	}
	return nil
}

// constraint returns the OpenShift security context constraint that admitted the newest pod that serves. OpenShift
// would also admit the preflight pod by the operator's permissions, because the operator creates it. For a pod that a
// ReplicaSet created, only the permissions of its ServiceAccount count. Empty means that no pod names a constraint.
func (r *Reconciler) constraint(ctx context.Context, stack *stack, workload *workload) (string, error) {
	if !r.openShift {
		return "", nil
	}
	pods, err := r.pods(ctx, stack)
	if err != nil {
		return "", err
	}
	var newest *corev1.Pod
	for i := range pods {
		pod := &pods[i]
		if !workload.controls(pod) || !isPodReady(pod) || pod.Annotations[names.AnnotationConstraint] == "" {
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

// controls reports whether the pod belongs to the Deployment. Labels and annotations are not enough, because any client
// can create a pod with them.
func (w *workload) controls(pod *corev1.Pod) bool {
	return slices.ContainsFunc(w.replicaSets, func(set appsv1.ReplicaSet) bool {
		return w.deployment != nil && metav1.IsControlledBy(&set, w.deployment) && metav1.IsControlledBy(pod, &set)
	})
}

func isPodReady(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

func (r *Reconciler) applyPreflight(ctx context.Context, stack *stack, made *planned, constraint string) error {
	objects, err := made.plan.PreflightObjects(made.derived, constraint)
	if err != nil {
		return err
	}
	wanted, err := unstructuredObjects(objects)
	if err != nil {
		return err
	}
	desired, err := r.applier.CheckOwnership(ctx, ownerOf(stack), wanted)
	if err != nil {
		return err
	}
	_, err = r.applier.Set(ctx, ownerOf(stack), desired)
	return err
}

// judgePreflight accepts the change if the pod is ready or cannot be scheduled.
func (r *Reconciler) judgePreflight(
	pod *corev1.Pod, external []status.ExternalProvider, dropOthers func(name string) error, report *report,
) error {
	if pod.DeletionTimestamp != nil {
		return preflightGoesOn(pod.Name, "")
	}
	verdict := status.JudgePreflight(pod, external, render.PreflightDeadline, r.now())
	if !verdict.Until.IsZero() {
		report.requeue(verdict.Until)
	}
	switch verdict.State {
	case status.PreflightReady:
		return nil
	case status.PreflightUnplaced:
		skipPreflight(verdict.Message, report)
		return nil
	case status.PreflightCrashed:
		return preflightFailed(pod.Name, verdict.Message,
			"change the spec or an object that it refers to, or delete the pod to try again", status.OnObjectChange)
	case status.PreflightHindered:
		return preflightFailed(pod.Name, verdict.Message, "the node tries again", status.OnReferenceChange)
	case status.PreflightLost:
		return r.replacePreflight(pod, verdict.Message, dropOthers, report)
	case status.PreflightGoesOn:
	}
	return preflightGoesOn(pod.Name, verdict.Message)
}

// replacePreflight deletes a lost pod after a while, so that another one can replace it once it is gone.
func (r *Reconciler) replacePreflight(
	pod *corev1.Pod, why string, dropOthers func(name string) error, report *report,
) error {
	if again := status.StartOf(pod).Add(preflightRetry); r.now().Before(again) {
		report.requeue(again)
		return preflightFailed(pod.Name, why, "another pod tries the change again", status.OnReferenceChange)
	}
	if err := dropOthers(""); err != nil {
		return err
	}
	return preflightGoesOn(pod.Name, why)
}

func skipPreflight(why string, report *report) {
	report.warningEvent(v1alpha2.EventPreflightSkipped, "The change is applied without a preflight: "+why)
}

func preflightGoesOn(pod, why string) error {
	message := fmt.Sprintf("Pod %q tries the change; the running pods stay until it is ready", pod)
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
		Message: fmt.Sprintf("Pod %q tries the change and does not become ready: %s. The running pods stay as they are; %s", pod, why, next),
	}
}
