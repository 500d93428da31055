package controller

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/apply"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/refusal"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/observe"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/planning"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/report"
)

// preflightRetry is the minimum time between two pods for one change, if the first pod terminated for an unrelated
// reason.
const preflightRetry = 5 * time.Minute

// preflight tests a change to the pods in a separate pod before the running pods are replaced. All state is in the
// cluster: the pod's name identifies the change, the pod's status contains the outcome, and a failed pod is kept as
// long as the change remains the same. When the pod is ready, the step apply writes the change, and the step prune
// deletes the pod.
func (r *Reconciler) preflight(
	ctx context.Context, stack *stack, workload *workload, made *planning.Planned, own *owned, report *report.Report,
) error {
	wanted := own.decision.Deployment.Spec.Replicas
	if !own.decision.Replaces || wanted != nil && *wanted == 0 || !made.Plan.TriesChange(own.decision.StartsAlike) {
		return nil
	}
	name, err := made.Plan.PreflightName()
	if err != nil {
		return err
	}
	tried, err := tried(ctx, stack, r.cache)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(tried, func(pod corev1.Pod) bool { return pod.Name == name })
	// A preflight is not needed if no running pod serves requests. However, a preflight that has begun continues, because
	// a serving pod may be unavailable only briefly, and the change may prevent the server from starting.
	serves := workload.Deployment != nil && workload.Deployment.Status.AvailableReplicas > 0
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
	external := observe.ExternalProviders(made.Input.Intent, made.Plan, made.Input.Packages)
	return r.judgePreflight(&tried[i], external, dropOthers, report)
}

// tried returns the stack's preflight pods. The reader is the cache, or the API server with a limit for each page.
// Callers must not change the pods.
func tried(
	ctx context.Context, stack *stack, reader client.Reader, limit ...client.ListOption,
) ([]corev1.Pod, error) {
	var found []corev1.Pod
	for options := limit; ; {
		var pods corev1.PodList
		err := reader.List(ctx, &pods, append(slices.Clip(options), client.InNamespace(stack.Namespace),
			client.MatchingLabels(names.PreflightSelector(stack.Name)), readOnly)...)
		if err != nil {
			return nil, fmt.Errorf("list the preflight pods: %w", err)
		}
		for i := range pods.Items {
			if metav1.IsControlledBy(&pods.Items[i], stack) {
				found = append(found, pods.Items[i])
			}
		}
		if len(limit) == 0 || pods.Continue == "" { // a list from the cache is complete, but has a placeholder in Continue
			return found, nil
		}
		options = append(slices.Clip(limit), client.Continue(pods.Continue))
	}
}

// dropTries deletes the objects of preflights for other changes, and the configurations that only those preflights
// used.
func (r *Reconciler) dropTries(ctx context.Context, stack *stack, workload *workload, own *owned, name string) error {
	keep, err := r.kept(ctx, stack, workload, own)
	if err != nil {
		return err
	}
	err = r.applier.Prune(ctx, ownerOf(stack), render.PreflightKinds(), func(child apply.Child) bool {
		if strings.HasPrefix(child.Name, names.PreflightPrefix(stack.Name)) {
			return child.Name == name
		}
		return keep[child] || child.Kind.Kind != kindConfigMap
	})
	return err
}

// startPreflight creates the pod, unless another preflight pod still exists. If the API server rejects the pod, or if
// the security context constraint of the running pods is unknown on OpenShift, startPreflight returns nil, so that the
// operator applies the change.
func (r *Reconciler) startPreflight(
	ctx context.Context, stack *stack, workload *workload, made *planning.Planned, own *owned, name string,
	report *report.Report,
) error {
	// The cache might not contain the last pod yet.
	there, err := tried(ctx, stack, r.direct, client.Limit(directPage))
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
		skipPreflight("no running pod has an annotation that names its security context constraint", report)
		return nil
	}
	err = r.applyMissing(ctx, stack, own)
	if err == nil {
		err = r.applyPreflight(ctx, stack, made, constraint)
	}
	switch {
	case err == nil:
		report.Normal(v1alpha2.EventPreflightStarted, fmt.Sprintf(
			"The operator is testing the change in Pod %q with image %q before it replaces the running pods", name, made.Input.Distribution.Image))
		return preflightGoesOn(name, "")
	case refusal.Rejected(err):
		skipPreflight("the API server rejected the preflight pod: "+refusal.Answer(err), report)
		return nil
	default:
		return notOurs(err)
	}
}

// applyMissing applies the objects that the preflight pod shares with the future pods and that no running pod uses:
// configurations and a ServiceAccount. It also applies the startup ConfigMap, which running pods use too, because a
// previous operator may have written only a part of it.
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

// constraint returns the OpenShift security context constraint that admitted the newest serving pod. The operator
// creates the preflight pod, so OpenShift could also admit the pod because of the operator's permissions. For the pods
// of a ReplicaSet, only the permissions of their ServiceAccount count. Empty means that the constraint is unknown, or
// that the cluster is not OpenShift.
func (r *Reconciler) constraint(ctx context.Context, stack *stack, workload *workload) (string, error) {
	if !r.openShift {
		return "", nil
	}
	pods, err := r.pods(ctx, stack)
	if err != nil {
		return "", err
	}
	if workload.Deployment == nil {
		return "", nil
	}
	var newest *corev1.Pod
	serving := status.ServingPods(workload.Deployment.UID, workload.ReplicaSets, pods)
	for i := range serving {
		if pod := &serving[i]; pod.Annotations[names.AnnotationConstraint] != "" &&
			(newest == nil || newest.CreationTimestamp.Before(&pod.CreationTimestamp)) {
			newest = pod
		}
	}
	if newest == nil {
		return "", nil
	}
	return newest.Annotations[names.AnnotationConstraint], nil
}

func (r *Reconciler) applyPreflight(
	ctx context.Context, stack *stack, made *planning.Planned, constraint string,
) error {
	objects, err := made.Plan.PreflightObjects(made.Derived, constraint)
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

// judgePreflight returns nil if the pod is ready or cannot be scheduled. The operator then applies the change.
// Otherwise, judgePreflight returns a failure.
func (r *Reconciler) judgePreflight(
	pod *corev1.Pod, external []status.ExternalProvider, dropOthers func(name string) error, report *report.Report,
) error {
	if pod.DeletionTimestamp != nil {
		return preflightGoesOn(pod.Name, "")
	}
	verdict := status.JudgePreflight(pod, external, render.PreflightDeadline, r.now())
	if !verdict.Until.IsZero() {
		report.Requeue(verdict.Until)
	}
	switch verdict.State {
	case status.PreflightReady:
		return nil
	case status.PreflightUnplaced:
		skipPreflight(verdict.Message, report)
		return nil
	case status.PreflightCrashed:
		return preflightFailed(pod.Name, verdict.Message,
			fmt.Sprintf("change the spec or an object that it refers to, or delete Pod %q to try again", pod.Name),
			status.OnObjectChange)
	case status.PreflightHindered:
		return preflightFailed(pod.Name, verdict.Message, "the kubelet tries again", status.OnReferenceChange)
	case status.PreflightLost:
		return r.replacePreflight(pod, verdict.Message, dropOthers, report)
	case status.PreflightGoesOn:
	}
	return preflightGoesOn(pod.Name, verdict.Message)
}

// replacePreflight deletes a pod that terminated for an unrelated reason, so that another pod can replace it. It
// deletes the pod only when preflightRetry has passed since the start of the pod.
func (r *Reconciler) replacePreflight(
	pod *corev1.Pod, why string, dropOthers func(name string) error, report *report.Report,
) error {
	if again := status.StartOf(pod).Add(preflightRetry); r.now().Before(again) {
		report.Requeue(again)
		return preflightFailed(pod.Name, why, "the operator will test the change again in another pod", status.OnReferenceChange)
	}
	if err := dropOthers(""); err != nil {
		return err
	}
	return preflightGoesOn(pod.Name, why)
}

func skipPreflight(why string, report *report.Report) {
	report.Warning(v1alpha2.EventPreflightSkipped, "The operator is applying the change without a preflight: "+why)
}

func preflightGoesOn(pod, why string) error {
	message := fmt.Sprintf("The operator is testing the change in Pod %q, and will replace the running pods when this pod is ready", pod)
	if why != "" {
		message += "; current state: " + why
	}
	return &status.Failure{
		Condition: v1alpha2.ConditionDeploymentUpdated, Reason: v1alpha2.ReasonPreflightInProgress,
		Message: message, Retry: status.OnReferenceChange, Unknown: true,
	}
}

func preflightFailed(pod, why, next string, retry status.Retry) error {
	return &status.Failure{
		Condition: v1alpha2.ConditionDeploymentUpdated, Reason: v1alpha2.ReasonPreflightFailed, Retry: retry,
		Message: fmt.Sprintf("The operator tested the change in Pod %q, which did not become ready: %s. The running pods do not change; %s", pod, why, next),
	}
}
