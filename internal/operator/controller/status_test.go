package controller_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/controllertest"
)

// statusWrite is the call that writes the status of the stack "my".
const statusWrite = "patch llamastackdistributions status my"

// updateStatus replaces the status of a stack, as any client with permission to update the status can do.
func updateStatus(
	t *testing.T, env *controllertest.Environment, name string, change func(*v1alpha2.LlamaStackDistributionStatus),
) *v1alpha2.LlamaStackDistribution {
	t.Helper()
	stack := &v1alpha2.LlamaStackDistribution{}
	env.Get(t, name, stack)
	change(&stack.Status)
	env.UpdateStatus(t, stack)
	return stack
}

// TestStoredStatusFieldsOfV1alpha1 checks that conditions that an earlier operator stored only for users of v1alpha1
// cause no write, and that the next write of the status removes them. An upgrade causes one write, which sets the new
// version in the status.
func TestStoredStatusFieldsOfV1alpha1(t *testing.T) {
	env := controllertest.NewEnvironment(t)
	first := env.StartReconciler(t, "one")
	env.CreateReadyStack(t, `{distribution: {name: starter}, resources: {models: [m]}}`)
	before := len(controllertest.ListWrites(env.WaitUntilIdle(t, "one")))
	first.Stop(t)

	was := updateStatus(t, env, "my", func(status *v1alpha2.LlamaStackDistributionStatus) {
		for _, name := range []string{"DeploymentReady", "HealthCheck", "ServiceReady", "ConfigReady"} {
			status.Conditions = append(status.Conditions, metav1.Condition{
				Type: name, Status: metav1.ConditionTrue, Reason: "Old", ObservedGeneration: 1, LastTransitionTime: metav1.Now(),
			})
		}
	})
	same := env.StartReconciler(t, "one")
	if got := controllertest.ListWrites(env.WaitUntilIdle(t, "one"))[before:]; len(got) > 0 {
		t.Errorf("writes after a restart of the same version: %v", got)
	}
	same.Stop(t)

	env.StartReconciler(t, "two")
	if diff := cmp.Diff([]string{statusWrite}, controllertest.ListWrites(env.WaitUntilIdle(t, "two"))); diff != "" {
		t.Errorf("writes after an upgrade (-want +got):\n%s", diff)
	}
	now := env.GetStack(t)
	was.Status.Conditions = was.Status.Conditions[:len(was.Status.Conditions)-4]
	if diff := cmp.Diff(was.Status, now.Status, cmpopts.IgnoreFields(v1alpha2.LlamaStackDistributionStatus{},
		"Version")); diff != "" {
		t.Errorf("status (-before +after the upgrade):\n%s", diff)
	}
}

// TestRunningStatusOfAnotherClient checks that one write restores the status after a client with the original v1alpha1
// types has written it without the fields that these types lack.
func TestRunningStatusOfAnotherClient(t *testing.T) {
	t.Parallel()
	env := controllertest.NewEnvironment(t)
	env.StartOperator(t, "repair")
	env.CreateReadyStack(t, `{distribution: {name: starter}, resources: {models: [m]}}`)
	before := len(controllertest.ListWrites(env.WaitUntilIdle(t, "repair")))
	was := env.GetStack(t)

	updateStatus(t, env, "my", func(status *v1alpha2.LlamaStackDistributionStatus) {
		*status = v1alpha2.LlamaStackDistributionStatus{
			Phase: v1alpha2.PhaseFailed, Version: status.Version, DistributionConfig: status.DistributionConfig,
			Conditions: status.Conditions, AvailableReplicas: status.AvailableReplicas, ServiceURL: status.ServiceURL,
		}
	})
	now := &v1alpha2.LlamaStackDistribution{}
	controllertest.WaitUntil(t, func() error {
		env.Get(t, "my", now)
		if diff := cmp.Diff(was.Status, now.Status); diff != "" {
			return errors.New("status (-before +after):\n" + diff)
		}
		return nil
	})
	if diff := cmp.Diff([]string{statusWrite},
		controllertest.ListWrites(env.WaitUntilIdle(t, "repair"))[before:]); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
}

// TestServiceURLWithoutService checks that the status of a v1alpha1 stack has a service URL only while the spec has a
// port, because otherwise the stack has no Service.
func TestServiceURLWithoutService(t *testing.T) {
	env := controllertest.NewEnvironment(t)
	env.StartReconciler(t, "service")
	stack := env.NewStack(t, "my", `{distribution: {name: starter}}`)
	stack.Annotations = map[string]string{"llamastack.io/compat": "v1alpha1"}
	env.Create(t, stack)
	url := func(want string) {
		t.Helper()
		controllertest.WaitUntil(t, func() error {
			now := env.GetStack(t)
			if now.Status.ObservedGeneration != now.Generation || now.Status.ServiceURL != want {
				return fmt.Errorf("generation %d of %d, URL %q", now.Status.ObservedGeneration, now.Generation,
					now.Status.ServiceURL)
			}
			return nil
		})
	}
	url("")
	env.UpdateStack(t, "my", func(stack *v1alpha2.LlamaStackDistribution) {
		stack.Spec.Networking = &v1alpha2.NetworkingSpec{Port: 8321}
	})
	url("http://my-service." + env.Namespace + ".svc.cluster.local:8321")
	env.UpdateStack(t, "my", func(stack *v1alpha2.LlamaStackDistribution) { stack.Spec.Networking = nil })
	url("")
}
