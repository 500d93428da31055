package controller_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/controllertest"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// TestRunningCalls checks the documented number of calls for changes: none for what changes nothing, and one status
// write for a visible transition and for a restart of the operator with a different version.
func TestRunningCalls(t *testing.T) {
	t.Parallel()
	env := controllertest.NewEnvironment(t)
	env.Create(t, controllertest.NewSecret("vllm-creds", "token", "sk-abc"))
	env.StartOperator(t, "calls-1")
	env.Create(t, env.NewStack(t, "my", strings.Replace(controllertest.SecretSpec, "1Gi}", "1Gi}, podDisruptionBudget: {minAvailable: 1}", 1)))
	env.WaitForCondition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
	seen := env.WaitUntilIdle(t, "calls-1")
	t.Run("one status write for a transition", func(t *testing.T) {
		env.MarkDeploymentReady(t, "my")
		env.WaitForCondition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonMinimumReplicasAvailable)
		now := env.WaitUntilIdle(t, "calls-1")
		if diff := cmp.Diff([]string{"patch llamastackdistributions status my"}, controllertest.ListWrites(now[len(seen):])); diff != "" {
			t.Errorf("writes (-want +got):\n%s", diff)
		}
		seen = now
	})
	t.Run("neither another reconcile nor an idle object causes calls", func(t *testing.T) {
		stack := &v1alpha2.LlamaStackDistribution{}
		env.Get(t, "my", stack)
		touched := stack.DeepCopy()
		touched.Annotations = map[string]string{"somebody": "touched it"}
		env.Patch(t, touched, client.MergeFrom(stack))
		const idle = 5 * time.Second
		err := wait.PollUntilContextTimeout(t.Context(), 10*controllertest.PollInterval, idle, true,
			func(context.Context) (bool, error) {
				return len(env.ListCalls(t, "calls-1")) > len(seen), nil
			})
		if err == nil {
			t.Errorf("calls: %v", env.ListCalls(t, "calls-1")[len(seen):])
		}
	})
	t.Run("one status write removes a warning with its cause", func(t *testing.T) { checkWarningGone(t, env, "calls-1") })
	t.Run("a restart writes only the new version", func(t *testing.T) {
		env.StartOperator(t, "calls-2")
		env.WaitForCondition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonMinimumReplicasAvailable)
		controllertest.WaitUntil(t, func() error {
			if len(controllertest.ListWrites(env.ListCalls(t, "calls-2"))) == 0 {
				return fmt.Errorf("the version is not written yet")
			}
			return nil
		})
		if diff := cmp.Diff([]string{"patch llamastackdistributions status my"},
			controllertest.ListWrites(env.WaitUntilIdle(t, "calls-2"))); diff != "" {
			t.Errorf("writes (-want +got):\n%s", diff)
		}
	})
}

// TestRunningCallsOfANewStack checks that a new stack costs few calls: a write for each child, one for the status and
// one for an event, and the reads that a decision needs.
func TestRunningCallsOfANewStack(t *testing.T) {
	t.Parallel()
	const maxWrites, maxReads = 7, 3
	env := controllertest.NewEnvironment(t)
	env.StartOperator(t, "new")
	objects, err := testutil.ReadObjects(filepath.Join(testutil.Root(), "config", "samples", "v1alpha2-simple.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range objects {
		env.Create(t, object)
	}
	env.WaitForCondition(t, "simple", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
	calls := env.WaitUntilIdle(t, "new")
	env.WaitForEvent(t, corev1.EventTypeNormal, v1alpha2.EventDeploymentUpdated)
	first := calls[:1+slices.Index(calls, "patch llamastackdistributions status simple")]
	events := env.ListEventReasons(t)
	if writes := controllertest.ListWrites(calls); len(writes)+1 > maxWrites || events != v1alpha2.EventDeploymentUpdated {
		t.Errorf("writes %q and events %q, want at most %d", writes, events, maxWrites)
	}
	if reads := len(first) - len(controllertest.ListWrites(first)); reads > maxReads {
		t.Errorf("%d reads in %q, want at most %d", reads, first, maxReads)
	}
}

// checkWarningGone removes the cause of the only warning about a stack, and checks that one write removes the warning.
func checkWarningGone(t *testing.T, env *controllertest.Environment, version string) {
	t.Helper()
	seen, stack := env.WaitUntilIdle(t, version), &v1alpha2.LlamaStackDistribution{}
	const path = "spec.workload.podDisruptionBudget.minAvailable: "
	if env.Get(t, "my", stack); len(stack.Status.Warnings) != 1 || !strings.HasPrefix(stack.Status.Warnings[0], path) {
		t.Errorf("the warnings are %q, want one that begins with %q", stack.Status.Warnings, path)
	}
	env.UpdateStack(t, "my", func(s *v1alpha2.LlamaStackDistribution) { s.Spec.Workload.PodDisruptionBudget = nil })
	controllertest.WaitUntil(t, func() error {
		if env.Get(t, "my", stack); len(stack.Status.Warnings) > 0 {
			return fmt.Errorf("the warnings are %q", stack.Status.Warnings)
		}
		return nil
	})
	written := slices.DeleteFunc(controllertest.ListWrites(env.WaitUntilIdle(t, version)[len(seen):]),
		func(write string) bool { return !strings.Contains(write, " status ") })
	if diff := cmp.Diff([]string{"patch llamastackdistributions status my"}, written); diff != "" {
		t.Errorf("writes of the status (-want +got):\n%s", diff)
	}
	env.MarkDeploymentReady(t, "my")
	env.WaitForCondition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonMinimumReplicasAvailable)
}
