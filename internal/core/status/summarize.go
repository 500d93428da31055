package status

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

// gates lists the conditions that Ready summarizes, in the order of the steps. The first gate that is not True
// determines the reason of Ready.
var gates = []string{
	v1alpha2.ConditionValidationSucceeded,
	v1alpha2.ConditionSecretsResolved,
	v1alpha2.ConditionConfigGenerated,
	v1alpha2.ConditionDeploymentUpdated,
	v1alpha2.ConditionStorageReady,
	v1alpha2.ConditionExposed,
	v1alpha2.ConditionAvailable,
}

// optional lists gates that count as True when they are absent.
var optional = map[string]bool{v1alpha2.ConditionStorageReady: true, v1alpha2.ConditionExposed: true}

// transient lists conditions that a reconcile removes unless it sets them again.
var transient = []string{
	v1alpha2.ConditionDegraded,
	v1alpha2.ConditionDataLeftBehind,
	v1alpha2.ConditionAdopted,
	v1alpha2.ConditionStorageReady,
	v1alpha2.ConditionExposed,
	v1alpha2.ConditionStalled,
	v1alpha2.ConditionReconciling,
}

// Input is the input of Summarize: the information that is available at the end of a reconcile.
type Input struct {
	// Generation is the generation of the object that was reconciled.
	Generation int64
	// Previous lists the conditions in the object's status, filtered by Known.
	Previous []metav1.Condition
	// Observed lists the conditions that this reconcile determined.
	Observed []metav1.Condition
	// Failure is the failure that ended the reconcile, or nil if every step succeeded.
	Failure *Failure
	// Overdue reports whether a rollout is still in progress after its deadline.
	Overdue bool
	// Serving and Earlier have the same meaning as in Observation.
	Serving, Earlier bool
	// Deleting reports whether the object has a deletion timestamp.
	Deleting bool
	// Now is the transition time of conditions whose status changes.
	Now metav1.Time
}

// Summary is the part of the object's status that Summarize computes.
type Summary struct {
	// Conditions lists the conditions: Ready first, then the steps in their order, then the other conditions.
	Conditions []metav1.Condition
	// Phase is the state in one word.
	Phase v1alpha2.Phase
}

// Summarize computes the conditions and the phase. Summarize removes an optional gate that this reconcile did not
// determine. Any other gate that this reconcile did not determine keeps its state if it has the current generation, and
// is otherwise Unknown. lastTransitionTime changes only with the status.
func Summarize(in Input) Summary {
	observed := slices.Clone(in.Observed)
	if in.Failure != nil {
		observed = append(slices.DeleteFunc(observed, func(c metav1.Condition) bool {
			return c.Type == in.Failure.Condition
		}), in.Failure.condition())
	}
	conditions := carryOver(in.Previous, observed, in.Generation)
	for _, condition := range observed {
		set(&conditions, condition, in)
	}
	fillGates(&conditions, in)

	ready := readiness(conditions)
	set(&conditions, ready, in)
	cause := Cause(conditions)
	stalled := stalled(ready, cause, in)
	set(&conditions, stalled, in)
	set(&conditions, reconciling(ready, stalled, cause), in)
	dropFalse(&conditions)
	slices.SortStableFunc(conditions, func(a, b metav1.Condition) int {
		return cmp.Compare(rank(a.Type), rank(b.Type))
	})
	return Summary{Conditions: conditions, Phase: phase(conditions, in)}
}

func (f *Failure) condition() metav1.Condition {
	status := metav1.ConditionFalse
	if f.Unknown {
		status = metav1.ConditionUnknown
	}
	return newCondition(f.Condition, status, f.Reason, f.Message)
}

// carryOver returns the previous conditions that are not transient and have the current generation. It also returns
// gates of an earlier generation that are not transient, and conditions that the reconcile observed again, because
// Summarize updates them.
func carryOver(previous, observed []metav1.Condition, generation int64) []metav1.Condition {
	kept := make([]metav1.Condition, 0, len(previous)+len(observed))
	for _, condition := range previous {
		again := meta.FindStatusCondition(observed, condition.Type) != nil
		stale := condition.ObservedGeneration != generation
		if again || !slices.Contains(transient, condition.Type) && (!stale || slices.Contains(gates, condition.Type)) {
			kept = append(kept, condition)
		}
	}
	return kept
}

// set calls meta.SetStatusCondition with the reconcile's time and generation.
func set(conditions *[]metav1.Condition, condition metav1.Condition, in Input) {
	condition.ObservedGeneration = in.Generation
	condition.LastTransitionTime = in.Now
	condition.Message = Shorten(condition.Message, maxMessage)
	meta.SetStatusCondition(conditions, condition)
	// If the status is unchanged, the condition keeps its transition time.
	if kept := meta.FindStatusCondition(in.Previous, condition.Type); kept != nil && kept.Status == condition.Status {
		meta.FindStatusCondition(*conditions, condition.Type).LastTransitionTime = kept.LastTransitionTime
	}
}

// maxMessage is the API's limit for the message of a condition, in characters. The API server rejects longer messages.
// The operator uses it as the limit in bytes, because a character can have four, and each cached stack has messages.
const maxMessage = 32768

// fillGates sets every gate without a condition of the current generation to Unknown. It does not add a gate that is
// optional and absent.
func fillGates(conditions *[]metav1.Condition, in Input) {
	awaited := "an earlier step"
	if in.Failure != nil {
		awaited = in.Failure.Condition
	}
	for _, gate := range gates {
		found := meta.FindStatusCondition(*conditions, gate)
		if found != nil && found.ObservedGeneration == in.Generation || found == nil && optional[gate] {
			continue
		}
		message := gate + " is waiting for " + awaited
		set(conditions, newCondition(gate, metav1.ConditionUnknown, v1alpha2.ReasonWaiting, message), in)
	}
}

// Cause returns the condition that explains why a stack is not ready: the first gate that is not True, or Degraded
// after a rollback. Ready has the same reason and refers to the message of this condition. Nil means that there was no
// rollback, and that each gate is either True, or optional and absent.
func Cause(conditions []metav1.Condition) *metav1.Condition {
	for _, gate := range gates {
		if found := meta.FindStatusCondition(conditions, gate); found != nil && found.Status != metav1.ConditionTrue {
			return found
		}
	}
	degraded := meta.FindStatusCondition(conditions, v1alpha2.ConditionDegraded)
	if degraded != nil && degraded.Reason == v1alpha2.ReasonRolledBack {
		return degraded
	}
	return nil
}

// readiness returns the condition Ready. Its message names the condition with the details and does not repeat them.
func readiness(conditions []metav1.Condition) metav1.Condition {
	if cause := Cause(conditions); cause != nil {
		return newCondition(v1alpha2.ConditionReady, metav1.ConditionFalse, cause.Reason,
			fmt.Sprintf("%s is %s; its message contains the details", cause.Type, cause.Status))
	}
	available := meta.FindStatusCondition(conditions, v1alpha2.ConditionAvailable)
	return newCondition(v1alpha2.ConditionReady, metav1.ConditionTrue, available.Reason, "The stack runs as requested")
}

// stalled returns a condition that is True for a failure that only a change to the object can fix. It is also True for
// a Deployment that was rolled back, and for a rollout past its deadline. kstatus also reports a Deployment with such
// an overdue rollout as failed.
func stalled(ready metav1.Condition, cause *metav1.Condition, in Input) metav1.Condition {
	condition := newCondition(v1alpha2.ConditionStalled, metav1.ConditionFalse, v1alpha2.ReasonProgressing, "")
	switch {
	case cause == nil:
	case in.Failure != nil && in.Failure.NeedsChange():
		condition.Status, condition.Reason = metav1.ConditionTrue, in.Failure.Reason
		condition.Message = "You must change the stack; see the condition " + in.Failure.Condition
	case in.Failure == nil && ready.Reason == v1alpha2.ReasonRolledBack:
		condition.Status, condition.Reason = metav1.ConditionTrue, ready.Reason
		condition.Message = "The Deployment stays rolled back until you change the stack or roll the Deployment forward; see the condition " + cause.Type
	case in.Failure == nil && in.Overdue && ready.Reason == v1alpha2.ReasonRolloutFailed:
		condition.Status, condition.Reason = metav1.ConditionTrue, ready.Reason
		condition.Message = "The rollout is past its deadline; see the condition " + cause.Type
	}
	return condition
}

func reconciling(ready, stalled metav1.Condition, cause *metav1.Condition) metav1.Condition {
	condition := newCondition(v1alpha2.ConditionReconciling, metav1.ConditionFalse, ready.Reason, "")
	if cause != nil && stalled.Status != metav1.ConditionTrue {
		condition.Status, condition.Message = metav1.ConditionTrue, fmt.Sprintf("The operator continues automatically; see the condition %s", cause.Type)
	}
	return condition
}

// dropFalse removes conditions that are not True, for the types that, by convention, are present only while True.
func dropFalse(conditions *[]metav1.Condition) {
	for _, name := range []string{v1alpha2.ConditionDegraded, v1alpha2.ConditionStalled, v1alpha2.ConditionReconciling} {
		if !meta.IsStatusConditionTrue(*conditions, name) {
			meta.RemoveStatusCondition(conditions, name)
		}
	}
}

// phase returns the state in one word. A stack that serves requests with its earlier configuration while a change is in
// progress is Ready, as in v1alpha1 (decision 0026).
func phase(conditions []metav1.Condition, in Input) v1alpha2.Phase {
	available := meta.FindStatusCondition(conditions, v1alpha2.ConditionAvailable)
	switch {
	case in.Deleting:
		return v1alpha2.PhaseTerminating
	case meta.IsStatusConditionTrue(conditions, v1alpha2.ConditionReady):
		return v1alpha2.PhaseReady
	case in.Failure != nil && in.Failure.NeedsChange():
		return v1alpha2.PhaseFailed
	case in.Failure != nil && in.Failure.Reason == v1alpha2.ReasonPreflightInProgress:
		return servingPhase(in.Serving)
	case in.Failure != nil:
		return v1alpha2.PhasePending
	case available.Reason == v1alpha2.ReasonRolloutFailed,
		meta.IsStatusConditionTrue(conditions, v1alpha2.ConditionDegraded):
		return v1alpha2.PhaseFailed
	default:
		return servingPhase(in.Serving && in.Earlier && available.Reason == v1alpha2.ReasonRolloutInProgress)
	}
}

func servingPhase(serves bool) v1alpha2.Phase {
	if serves {
		return v1alpha2.PhaseReady
	}
	return v1alpha2.PhaseInitializing
}

// order is the order of the conditions in the status: the summary first, then the steps, then the other conditions.
var order = slices.Concat(
	[]string{v1alpha2.ConditionReady}, gates,
	[]string{
		v1alpha2.ConditionDegraded, v1alpha2.ConditionDataLeftBehind, v1alpha2.ConditionAdopted, v1alpha2.ConditionStalled,
		v1alpha2.ConditionReconciling,
	})

// Known returns the conditions of the types that this operator writes. The operator for v1alpha1 stored other types.
func Known(conditions []metav1.Condition) []metav1.Condition {
	return slices.DeleteFunc(slices.Clone(conditions),
		func(c metav1.Condition) bool { return !slices.Contains(order, c.Type) })
}

func rank(condition string) int {
	if i := slices.Index(order, condition); i >= 0 {
		return i
	}
	return len(order)
}
