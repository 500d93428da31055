package controllertest

import (
	"fmt"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

// StackState is the state of a stack for users and tools.
type StackState struct {
	// Phase is the phase in the status.
	Phase v1alpha2.Phase
	// Conditions contains the status and reason of each condition, by type.
	Conditions map[string]string
	// Tools is the state for tools that use kstatus.
	Tools status.Status
}

// GetStackState returns the state of a stack.
func (env *Environment) GetStackState(t *testing.T, name string) StackState {
	t.Helper()
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(v1alpha2.GroupVersionKind)
	env.Get(t, name, live)
	computed, err := status.Compute(live)
	if err != nil {
		t.Fatal(err)
	}
	stack := &v1alpha2.LlamaStackDistribution{}
	env.Get(t, name, stack)
	seen := StackState{Phase: stack.Status.Phase, Conditions: map[string]string{}, Tools: computed.Status}
	for _, condition := range stack.Status.Conditions {
		seen.Conditions[condition.Type] = string(condition.Status) + " " + condition.Reason
		if condition.ObservedGeneration != stack.Generation {
			seen.Conditions[condition.Type] += " of an older generation"
		}
	}
	return seen
}

// WaitForStackState waits until a stack has this phase, these conditions, and this state for tools that use kstatus.
func (env *Environment) WaitForStackState(
	t *testing.T, name string, phase v1alpha2.Phase, conditions map[string]string, tools status.Status,
) {
	t.Helper()
	want := StackState{Phase: phase, Conditions: conditions, Tools: tools}
	WaitUntil(t, func() error {
		if diff := cmp.Diff(want, env.GetStackState(t, name)); diff != "" {
			return fmt.Errorf("stack %s (-want +got):\n%s", name, diff)
		}
		return nil
	})
}

// WithConditions returns a copy of the conditions with changes. The arguments in `others` are pairs of a type and its
// new value. An empty value removes a condition.
func WithConditions(conditions map[string]string, others ...string) map[string]string {
	changed := maps.Clone(conditions)
	for i := 0; i < len(others); i += 2 {
		if changed[others[i]] = others[i+1]; others[i+1] == "" {
			delete(changed, others[i])
		}
	}
	return changed
}

// AppliedConditions contains the conditions of a stack whose children are applied and whose pods are starting.
var AppliedConditions = map[string]string{
	v1alpha2.ConditionReady:               "False " + v1alpha2.ReasonRolloutInProgress,
	v1alpha2.ConditionValidationSucceeded: "True " + v1alpha2.ReasonSpecValid,
	v1alpha2.ConditionSecretsResolved:     "True " + v1alpha2.ReasonNoSecretsReferenced,
	v1alpha2.ConditionConfigGenerated:     "True " + v1alpha2.ReasonConfigGenerationSucceeded,
	v1alpha2.ConditionDeploymentUpdated:   "True " + v1alpha2.ReasonDeploymentUpdateSucceeded,
	v1alpha2.ConditionAvailable:           "False " + v1alpha2.ReasonRolloutInProgress,
	v1alpha2.ConditionReconciling:         "True " + v1alpha2.ReasonRolloutInProgress,
}

// ReadyConditions contains the conditions of a stack that is in its desired state.
var ReadyConditions = WithConditions(AppliedConditions,
	v1alpha2.ConditionReady, "True "+v1alpha2.ReasonMinimumReplicasAvailable,
	v1alpha2.ConditionAvailable, "True "+v1alpha2.ReasonMinimumReplicasAvailable,
	v1alpha2.ConditionReconciling, "",
)

// WaitForCondition waits until a stack has a condition with this reason for its current generation, and returns the
// condition.
func (env *Environment) WaitForCondition(t *testing.T, stack, name, reason string) metav1.Condition {
	t.Helper()
	var found metav1.Condition
	WaitUntil(t, func() error {
		object := &v1alpha2.LlamaStackDistribution{}
		if err := env.Client.Get(t.Context(), env.Key(stack), object); err != nil {
			return err
		}
		for _, condition := range object.Status.Conditions {
			if condition.Type == name && condition.Reason == reason && condition.ObservedGeneration == object.Generation {
				found = condition
				return nil
			}
		}
		return fmt.Errorf("no condition %s with reason %s and generation %d in %+v",
			name, reason, object.Generation, object.Status.Conditions)
	})
	return found
}

// CheckCondition returns an error if a condition of a stack does not have this reason and this message.
func (env *Environment) CheckCondition(t *testing.T, stack, name, reason, message string) error {
	t.Helper()
	object := &v1alpha2.LlamaStackDistribution{}
	env.Get(t, stack, object)
	found := meta.FindStatusCondition(object.Status.Conditions, name)
	if found == nil || found.Reason != reason || found.Message != message {
		return fmt.Errorf("condition %s is %+v, want reason %s and message:\n%s", name, found, reason, message)
	}
	return nil
}
