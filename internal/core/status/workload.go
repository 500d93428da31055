package status

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

// Observation is the state of the workload.
type Observation struct {
	// Available is the condition that reports whether as many pods as requested serve requests and, if not, the reason.
	Available metav1.Condition
	// Replicas is the number of the Deployment's pods.
	Replicas int32
	// AvailableReplicas is the number of these pods that serve requests, regardless of their configuration.
	AvailableReplicas int32
	// Overdue reports whether the rollout is past its deadline. The Deployment controller continues the rollout.
	Overdue bool
	// Serving reports whether as many pods serve requests as the rollout strategy requires, regardless of their
	// configuration.
	Serving bool
	// Earlier reports whether the Deployment has had an earlier configuration. If so, pods may still serve requests
	// with that configuration.
	Earlier bool
	// Mixed reports whether pods of the Deployment with an earlier template may answer the operator's requests.
	Mixed bool
}

const (
	deploymentProgressing = "Progressing"
	deadlineExceeded      = "ProgressDeadlineExceeded"
	newSetAvailable       = "NewReplicaSetAvailable"
	revisionAnnotation    = "deployment.kubernetes.io/revision"
)

// PendingClaim is a PersistentVolumeClaim without a volume, which prevents pods from starting.
type PendingClaim struct {
	// Name is the name of the PersistentVolumeClaim.
	Name string
	// Message is the cluster's explanation of why the claim has no volume.
	Message string
}

// WorkloadInput holds the objects of a workload.
type WorkloadInput struct {
	// Deployment is nil if it was never created.
	Deployment *appsv1.Deployment
	// ReplicaSets and Pods match the selector of the Deployment.
	ReplicaSets []appsv1.ReplicaSet
	Pods        []corev1.Pod
	// Claims lists the claims that have no volume and for which the cluster reports a problem.
	Claims []PendingClaim
	// Earlier reports whether the Deployment was rendered from an earlier spec.
	Earlier bool
	// Kept reports whether the Deployment keeps a template of another version of the operator.
	Kept bool
	// External lists the external providers in the spec.
	External []ExternalProvider
	// Now is the current time. It determines whether an init container has run for too long.
	Now time.Time
}

// Workload determines whether the requested pods serve requests with the current configuration and, if not, the reason.
func Workload(in WorkloadInput) Observation {
	deployment := in.Deployment
	if deployment == nil {
		return Observation{Available: available(metav1.ConditionUnknown, v1alpha2.ReasonWaiting, "Nothing is deployed yet")}
	}
	overdue := isSeen(deployment) && progressReason(deployment) == deadlineExceeded
	available := availability(in, overdue)
	return Observation{
		Available:         available,
		Replicas:          deployment.Status.Replicas,
		AvailableReplicas: deployment.Status.AvailableReplicas,
		Overdue:           overdue && available.Status != metav1.ConditionTrue,
		Serving:           isServing(deployment),
		Earlier:           hasEarlier(deployment, in.ReplicaSets),
		Mixed:             isMixed(in),
	}
}

// isServing reports whether the Deployment has its minimum number of available pods, and at least one available pod.
// The pods can be of any revision.
func isServing(deployment *appsv1.Deployment) bool {
	wanted := ptr.Deref(deployment.Spec.Replicas, 1)
	strategy := &deployment.Spec.Strategy
	least := wanted
	if strategy.Type == appsv1.RollingUpdateDeploymentStrategyType && strategy.RollingUpdate != nil {
		missing, err := intstr.GetScaledValueFromIntOrPercent(
			intstr.ValueOrDefault(strategy.RollingUpdate.MaxUnavailable, intstr.FromInt32(0)), int(wanted), false)
		if err == nil {
			least -= int32(missing) //nolint:gosec // at most the number of replicas
		}
	}
	return deployment.Status.AvailableReplicas >= max(least, 1)
}

// hasEarlier reports whether the Deployment has had a template other than its current template. The ReplicaSets of
// earlier templates remain after a rollout, so the result does not change at the end of a rollout.
func hasEarlier(deployment *appsv1.Deployment, sets []appsv1.ReplicaSet) bool {
	own := 0
	for i := range sets {
		if metav1.IsControlledBy(&sets[i], deployment) {
			own++
		}
	}
	return own > 1 || !isSeen(deployment) || deployment.Status.Replicas > deployment.Status.UpdatedReplicas
}

// isSeen reports whether the Deployment's status describes its current spec.
func isSeen(deployment *appsv1.Deployment) bool {
	return deployment.Status.ObservedGeneration >= deployment.Generation
}

func progressReason(deployment *appsv1.Deployment) string {
	if progress := findDeploymentCondition(deployment, deploymentProgressing); progress != nil {
		return progress.Reason
	}
	return ""
}

func availability(in WorkloadInput, overdue bool) metav1.Condition {
	deployment, config, asked := in.Deployment, "current config", ", as requested"
	if in.Earlier {
		config, asked = "an earlier config", ""
	}
	wanted := ptr.Deref(deployment.Spec.Replicas, 1)
	state := deployment.Status
	seen := isSeen(deployment)
	if wanted == 0 && seen {
		return available(metav1.ConditionTrue, v1alpha2.ReasonScaledToZero, "Scaled to zero replicas"+asked)
	}
	current := currentSet(deployment, in.ReplicaSets)
	serving := servingCurrent(deployment, current)
	message := fmt.Sprintf("%d/%d replicas available with %s", serving, wanted, config)
	if seen && serving >= wanted && state.UpdatedReplicas >= wanted && state.Replicas == state.UpdatedReplicas {
		return available(metav1.ConditionTrue, v1alpha2.ReasonMinimumReplicasAvailable, message)
	}
	trouble := findTrouble(in, current, overdue)
	if trouble.message == "" && serving > 0 {
		trouble = earlierTrouble(in, current)
	}
	if trouble.message != "" {
		message += ": " + trouble.message
	}
	if in.Kept && (strings.Contains(message, lateHealthCheck) || strings.Contains(message, cannotBePulled)) {
		message, _, _ = strings.Cut(message, "; see kubectl ")
		message += fmt.Sprintf("; the pods keep a template of another operator version, with its probes and its image: run "+
			"`kubectl rollout restart deployment/%s` for the current template", deployment.Name)
	}
	return available(metav1.ConditionFalse, unavailableReason(trouble, overdue, seen &&
		progressReason(deployment) == newSetAvailable), message)
}

func unavailableReason(trouble trouble, overdue, wasComplete bool) string {
	switch {
	case trouble.fatal, overdue:
		return v1alpha2.ReasonRolloutFailed
	case wasComplete:
		return v1alpha2.ReasonReplicasUnavailable
	default:
		return v1alpha2.ReasonRolloutInProgress
	}
}

func available(status metav1.ConditionStatus, reason, message string) metav1.Condition {
	return newCondition(v1alpha2.ConditionAvailable, status, reason, message)
}

func newCondition(kind string, status metav1.ConditionStatus, reason, message string) metav1.Condition {
	return metav1.Condition{Type: kind, Status: status, Reason: reason, Message: message}
}

// currentSet returns the ReplicaSet of the Deployment's newest revision.
func currentSet(deployment *appsv1.Deployment, sets []appsv1.ReplicaSet) *appsv1.ReplicaSet {
	var newest *appsv1.ReplicaSet
	highest := noRevision
	for i := range sets {
		if !metav1.IsControlledBy(&sets[i], deployment) {
			continue
		}
		if revision := revisionOf(&sets[i]); revision > highest {
			newest, highest = &sets[i], revision
		}
	}
	return newest
}

// noRevision is the revision of an object that the Deployment controller has not numbered.
const noRevision = int64(-1)

// revisionOf returns the revision number of a ReplicaSet, or of a Deployment's newest revision.
func revisionOf(object metav1.Object) int64 {
	revision, err := strconv.ParseInt(object.GetAnnotations()[revisionAnnotation], 10, 64)
	if err != nil {
		return noRevision
	}
	return revision
}

// servingCurrent returns the number of available pods with the current configuration. It reads the number from the
// status of the ReplicaSet if the Deployment has pods of other revisions, because the status of the Deployment counts
// all pods. It also does so until the Deployment controller has processed a change, because the status of the
// Deployment then describes the previous template. Without the ReplicaSet, it computes the number from the status of
// the Deployment.
func servingCurrent(deployment *appsv1.Deployment, current *appsv1.ReplicaSet) int32 {
	state := deployment.Status
	if state.Replicas == state.UpdatedReplicas && (isSeen(deployment) || current == nil) {
		return state.AvailableReplicas
	}
	if current == nil {
		return max(0, state.AvailableReplicas-(state.Replicas-state.UpdatedReplicas))
	}
	return current.Status.AvailableReplicas
}

func findDeploymentCondition(
	deployment *appsv1.Deployment, name appsv1.DeploymentConditionType,
) *appsv1.DeploymentCondition {
	conditions := deployment.Status.Conditions
	if i := slices.IndexFunc(conditions, func(c appsv1.DeploymentCondition) bool { return c.Type == name }); i >= 0 {
		return &conditions[i]
	}
	return nil
}

// inProgress lists the reasons of Ready that require no action from the user except to wait.
var inProgress = []string{
	v1alpha2.ReasonRolloutInProgress, v1alpha2.ReasonPreflightInProgress, v1alpha2.ReasonReadingExternalProviders,
	v1alpha2.ReasonWaiting, v1alpha2.ReasonProgressing,
}

// InProgress reports whether the user only has to wait, because of the reason of Ready, or because the status of the
// condition that Ready depends on is still unknown, for example while the operator reads the labels of an image.
func InProgress(conditions []metav1.Condition, reason string) bool {
	cause := Cause(conditions)
	return slices.Contains(inProgress, reason) || cause != nil && cause.Status == metav1.ConditionUnknown
}
