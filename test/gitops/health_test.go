package gitops

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	lua "github.com/yuin/gopher-lua"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	kstatus "sigs.k8s.io/cli-utils/pkg/kstatus/status"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

var now = metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))

func condition(name string, state metav1.ConditionStatus, reason, message string) metav1.Condition {
	return metav1.Condition{Type: name, Status: state, Reason: reason, Message: message}
}

// observed returns the conditions of a stack after the operator has applied all children.
func observed(available metav1.Condition) []metav1.Condition {
	return []metav1.Condition{
		condition(v1alpha2.ConditionValidationSucceeded, "True", v1alpha2.ReasonSpecValid, "The spec is valid"),
		condition(v1alpha2.ConditionSecretsResolved, "True", v1alpha2.ReasonNoSecretsReferenced,
			"The spec does not refer to any Secret"),
		condition(v1alpha2.ConditionConfigGenerated, "True", v1alpha2.ReasonConfigGenerationSucceeded, "Generated"),
		condition(v1alpha2.ConditionDeploymentUpdated, "True", v1alpha2.ReasonDeploymentUpdateSucceeded, "Every object is applied"),
		available,
	}
}

func available(state metav1.ConditionStatus, reason, message string) metav1.Condition {
	return condition(v1alpha2.ConditionAvailable, state, reason, message)
}

// cases contains states of a stack, and the health that the tools must show for each state.
var cases = map[string]struct {
	in       status.Input
	phase    v1alpha2.Phase
	flux     kstatus.Status
	argo     string
	argoText string
}{
	"first rollout": {
		in: status.Input{Observed: observed(available("False", v1alpha2.ReasonRolloutInProgress,
			"0/1 replicas available"))},
		phase: v1alpha2.PhaseInitializing, flux: kstatus.InProgressStatus, argo: "Progressing",
		argoText: "Available: 0/1 replicas available",
	},
	"a rollout while earlier pods serve": {
		in: status.Input{
			Serving: true, Earlier: true, Observed: observed(available("False", v1alpha2.ReasonRolloutInProgress,
				"0/1 replicas available")),
		},
		phase: v1alpha2.PhaseReady, flux: kstatus.InProgressStatus, argo: "Progressing",
		argoText: "Available: 0/1 replicas available",
	},
	"ready": {
		in:    status.Input{Serving: true, Observed: observed(available("True", v1alpha2.ReasonMinimumReplicasAvailable, "1/1 replicas available"))},
		phase: v1alpha2.PhaseReady, flux: kstatus.CurrentStatus, argo: "Healthy", argoText: "The stack runs as requested",
	},
	"an invalid spec while earlier pods serve": {
		in: status.Input{
			Serving: true, Observed: []metav1.Condition{available("True", v1alpha2.ReasonMinimumReplicasAvailable, "1/1 replicas available with an earlier config")},
			Failure: &status.Failure{
				Condition: v1alpha2.ConditionValidationSucceeded, Reason: v1alpha2.ReasonInvalidSpec, Message: "spec.x is invalid",
				Retry: status.OnObjectChange,
			},
		},
		phase: v1alpha2.PhaseFailed, flux: kstatus.FailedStatus, argo: "Degraded",
		argoText: "ValidationSucceeded: spec.x is invalid",
	},
	"a missing Secret while earlier pods serve": {
		in: status.Input{
			Serving: true, Observed: []metav1.Condition{
				condition(v1alpha2.ConditionValidationSucceeded, "True", v1alpha2.ReasonSpecValid, "The spec is valid"),
				available("True", v1alpha2.ReasonMinimumReplicasAvailable, "1/1 replicas available with an earlier config"),
				condition(v1alpha2.ConditionDegraded, "True", v1alpha2.ReasonSecretChangedToInvalid, "The pods keep the values"),
			},
			Failure: &status.Failure{
				Condition: v1alpha2.ConditionSecretsResolved, Reason: v1alpha2.ReasonSecretNotFound, Message: "a is missing",
				Retry: status.OnReferenceChange,
			},
		},
		phase: v1alpha2.PhasePending, flux: kstatus.InProgressStatus, argo: "Progressing",
		argoText: "SecretsResolved: a is missing",
	},
	"a preflight of a change": {
		in: status.Input{
			Serving: true, Observed: observed(available("True", v1alpha2.ReasonMinimumReplicasAvailable, "1/1 replicas available with an earlier config")),
			Failure: &status.Failure{
				Condition: v1alpha2.ConditionDeploymentUpdated, Reason: v1alpha2.ReasonPreflightInProgress,
				Message: "The operator is testing the change in Pod p",
				Retry:   status.OnReferenceChange, Unknown: true,
			},
		},
		phase: v1alpha2.PhaseReady, flux: kstatus.InProgressStatus, argo: "Progressing", argoText: "DeploymentUpdated: The operator is testing the change in Pod p",
	},
	"stalled rollout": {
		in: status.Input{
			Serving: true, Earlier: true, Overdue: true,
			Observed: observed(available("False", v1alpha2.ReasonRolloutFailed, "0/1 replicas available: it crashes")),
		},
		phase: v1alpha2.PhaseFailed, flux: kstatus.FailedStatus, argo: "Degraded", argoText: "Available: 0/1 replicas available: it crashes",
	},
	"rolled back": {
		in: status.Input{Serving: true, Observed: append(observed(available("True", v1alpha2.ReasonMinimumReplicasAvailable, "1/1 replicas available with an earlier config")),
			condition(v1alpha2.ConditionDegraded, "True", v1alpha2.ReasonRolledBack, "A user rolled back"))},
		phase: v1alpha2.PhaseFailed, flux: kstatus.FailedStatus, argo: "Degraded", argoText: "Degraded: A user rolled back",
	},
	"deleting": {
		in:    status.Input{Deleting: true, Serving: true, Observed: observed(available("True", v1alpha2.ReasonMinimumReplicasAvailable, "1/1 replicas available"))},
		phase: v1alpha2.PhaseTerminating, flux: kstatus.TerminatingStatus, argo: "Progressing",
		argoText: "The stack is being deleted",
	},
	"paused": {
		in: status.Input{
			Serving: true, Observed: observed(available("True", v1alpha2.ReasonMinimumReplicasAvailable, "1/1 replicas available")),
			Failure: &status.Failure{
				Condition: v1alpha2.ConditionDeploymentUpdated, Reason: v1alpha2.ReasonDeploymentPaused,
				Message: "The stack is paused",
				Retry:   status.OnReferenceChange, Unknown: true,
			},
		},
		phase: v1alpha2.PhasePending, flux: kstatus.InProgressStatus, argo: "Suspended",
		argoText: "DeploymentUpdated: The stack is paused",
	},
}

// object returns a stack in one of the states.
func object(t *testing.T, in status.Input) (*unstructured.Unstructured, v1alpha2.Phase) {
	t.Helper()
	in.Generation, in.Now = 2, now
	summary := status.Summarize(in)
	stack := &v1alpha2.LlamaStackDistribution{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha2.GroupVersion.String(), Kind: "LlamaStackDistribution"},
		ObjectMeta: metav1.ObjectMeta{Name: "my", Generation: 2},
		Status: v1alpha2.LlamaStackDistributionStatus{
			Phase: summary.Phase, ObservedGeneration: 2,
			Conditions: summary.Conditions,
		},
	}
	if in.Deleting {
		stack.DeletionTimestamp = &now
	}
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(stack)
	testutil.Must(t, err)
	return &unstructured.Unstructured{Object: fields}, summary.Phase
}

func TestHealth(t *testing.T) {
	check := healthCheck(t)
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			stack, phase := object(t, tc.in)
			if phase != tc.phase {
				t.Errorf("phase %s, want %s", phase, tc.phase)
			}
			computed, err := kstatus.Compute(stack)
			testutil.Must(t, err)
			if computed.Status != tc.flux {
				t.Errorf("kstatus %s (%s), want %s", computed.Status, computed.Message, tc.flux)
			}
			if health, message := argo(t, check, stack.Object); health != tc.argo || message != tc.argoText {
				t.Errorf("Argo CD shows %s %q, want %s %q", health, message, tc.argo, tc.argoText)
			}
		})
	}
}

// TestHealthOfAnUnobservedStack checks that Argo CD shows the health Progressing until the operator has observed the
// spec of a stack.
func TestHealthOfAnUnobservedStack(t *testing.T) {
	check := healthCheck(t)
	behind, _ := object(t, cases["ready"].in)
	behind.SetGeneration(3)
	previous, _ := object(t, cases["ready"].in)
	testutil.Must(t, unstructured.SetNestedSlice(previous.Object,
		[]any{map[string]any{"type": "DeploymentReady", "status": "True"}}, "status", "conditions"))
	for name, stack := range map[string]map[string]any{
		"new":                      {"metadata": map[string]any{"name": "my", "generation": int64(1)}},
		"changed":                  behind.Object,
		"of the previous operator": previous.Object,
	} {
		if health, _ := argo(t, check, stack); health != "Progressing" {
			t.Errorf("%s: Argo CD shows %s, want Progressing", name, health)
		}
	}
}

// TestNoMessageTwice checks that every condition of a stack has a message, and that each message occurs only once.
func TestNoMessageTwice(t *testing.T) {
	for name, tc := range cases {
		stack, _ := object(t, tc.in)
		conditions, _, err := unstructured.NestedSlice(stack.Object, "status", "conditions")
		testutil.Must(t, err)
		seen := map[string]string{}
		for _, entry := range conditions {
			fields, _ := entry.(map[string]any)
			kind, _ := fields["type"].(string)
			message, _ := fields["message"].(string)
			if other, twice := seen[message]; twice || message == "" {
				t.Errorf("%s: the message of %s is %q, which is empty or the same as the message of %q", name, kind, message, other)
			}
			seen[message] = kind
		}
	}
}

// healthCheck returns the health check in the documentation.
func healthCheck(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(testutil.Root(), "docs/how-to/gitops.md"))
	testutil.Must(t, err)
	_, after, _ := strings.Cut(string(page), "```lua\n")
	check, _, found := strings.Cut(after, "```")
	if !found {
		t.Fatal("docs/how-to/gitops.md has no Lua block")
	}
	return check
}

// argo runs a health check as Argo CD does: the global variable obj contains the object, and libraries that access the
// system are not available.
func argo(t *testing.T, check string, object map[string]any) (health, message string) {
	t.Helper()
	state := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer state.Close()
	for name, library := range map[string]lua.LGFunction{
		lua.BaseLibName: lua.OpenBase, lua.TabLibName: lua.OpenTable, lua.StringLibName: lua.OpenString,
	} {
		testutil.Must(t, state.CallByParam(lua.P{Fn: state.NewFunction(library), Protect: true}, lua.LString(name)))
	}
	state.SetGlobal("obj", toLua(state, object))
	testutil.Must(t, state.DoString(check))
	result, ok := state.Get(-1).(*lua.LTable)
	if !ok {
		t.Fatalf("the check returns %s", state.Get(-1))
	}
	return result.RawGetString("status").String(), result.RawGetString("message").String()
}

func toLua(state *lua.LState, value any) lua.LValue {
	switch v := value.(type) {
	case map[string]any:
		table := state.NewTable()
		for key, field := range v {
			table.RawSetString(key, toLua(state, field))
		}
		return table
	case []any:
		table := state.NewTable()
		for _, entry := range v {
			table.Append(toLua(state, entry))
		}
		return table
	case string:
		return lua.LString(v)
	case int64:
		return lua.LNumber(v)
	case bool:
		return lua.LBool(v)
	default:
		return lua.LNil
	}
}
