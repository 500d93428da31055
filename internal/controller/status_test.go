package controller_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

const statusWrite = "patch llamastackdistributions status my"

// writeStatus replaces the status, as any client with the permission may.
func (b *bench) writeStatus(
	t *testing.T, name string, change func(*v1alpha2.LlamaStackDistributionStatus),
) *v1alpha2.LlamaStackDistribution {
	t.Helper()
	stack := &v1alpha2.LlamaStackDistribution{}
	b.get(t, name, stack)
	change(&stack.Status)
	if err := b.Status().Update(t.Context(), stack); err != nil {
		t.Fatal(err)
	}
	return stack
}

// TestStoredFollowersGo checks that status fields that an earlier operator stored for users of v1alpha1 alone cause no
// write. They are removed by the next status write. An upgrade writes one status, for its version, and nothing else.
func TestStoredFollowersGo(t *testing.T) {
	b := newBench(t)
	first := b.direct(t, "one")
	b.create(t, b.stack(t, "my", `{distribution: {name: starter}, resources: {models: [m]}}`))
	b.condition(t, "my", ready, v1alpha2.ReasonRolloutInProgress)
	b.rollOut(t, "my")
	b.condition(t, "my", ready, v1alpha2.ReasonMinimumReplicasAvailable)
	before := len(writes(b.settled(t, "one")))
	first.stop(t)

	was := b.writeStatus(t, "my", func(status *v1alpha2.LlamaStackDistributionStatus) {
		for _, name := range []string{"DeploymentReady", "HealthCheck", "ServiceReady", "ConfigReady"} {
			status.Conditions = append(status.Conditions, metav1.Condition{
				Type: name, Status: metav1.ConditionTrue, Reason: "Old", ObservedGeneration: 1, LastTransitionTime: metav1.Now(),
			})
		}
	})
	same := b.direct(t, "one")
	if got := writes(b.settled(t, "one"))[before:]; len(got) > 0 {
		t.Errorf("writes of the same version: %v", got)
	}
	same.stop(t)

	b.direct(t, "two")
	if diff := cmp.Diff([]string{statusWrite}, writes(b.settled(t, "two"))); diff != "" {
		t.Errorf("writes of an upgrade (-want +got):\n%s", diff)
	}
	now := &v1alpha2.LlamaStackDistribution{}
	b.get(t, "my", now)
	was.Status.Conditions = was.Status.Conditions[:len(was.Status.Conditions)-4]
	if diff := cmp.Diff(was.Status, now.Status, cmpopts.IgnoreFields(v1alpha2.LlamaStackDistributionStatus{},
		"Version")); diff != "" {
		t.Errorf("status (-before +after the upgrade):\n%s", diff)
	}
}

// TestStatusOfAnotherClient checks that one write restores the status after a client with the original v1alpha1 types
// has written it without the fields that it lacks.
func TestStatusOfAnotherClient(t *testing.T) {
	b := newBench(t)
	b.start(t, "repair")
	b.create(t, b.stack(t, "my", `{distribution: {name: starter}, resources: {models: [m]}}`))
	b.condition(t, "my", ready, v1alpha2.ReasonRolloutInProgress)
	b.rollOut(t, "my")
	b.condition(t, "my", ready, v1alpha2.ReasonMinimumReplicasAvailable)
	before := len(writes(b.settled(t, "repair")))
	was := &v1alpha2.LlamaStackDistribution{}
	b.get(t, "my", was)

	b.writeStatus(t, "my", func(status *v1alpha2.LlamaStackDistributionStatus) {
		*status = v1alpha2.LlamaStackDistributionStatus{
			Phase: v1alpha2.PhaseFailed, Version: status.Version, DistributionConfig: status.DistributionConfig,
			Conditions: status.Conditions, AvailableReplicas: status.AvailableReplicas, ServiceURL: status.ServiceURL,
		}
	})
	now := &v1alpha2.LlamaStackDistribution{}
	eventually(t, func() error {
		b.get(t, "my", now)
		if diff := cmp.Diff(was.Status, now.Status); diff != "" {
			return errors.New("status (-before +after):\n" + diff)
		}
		return nil
	})
	if diff := cmp.Diff([]string{statusWrite}, writes(b.settled(t, "repair"))[before:]); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
}

// TestServiceURLWithoutService checks that a stack of v1alpha1 without a port and without variables has no Service and
// no service URL.
func TestServiceURLWithoutService(t *testing.T) {
	b := newBench(t)
	b.direct(t, "service")
	stack := b.stack(t, "my", `{distribution: {name: starter}}`)
	stack.Annotations = map[string]string{"llamastack.io/compat": "v1alpha1"}
	b.create(t, stack)
	url := func(want string) {
		t.Helper()
		eventually(t, func() error {
			now := &v1alpha2.LlamaStackDistribution{}
			b.get(t, "my", now)
			if now.Status.ObservedGeneration != now.Generation || now.Status.ServiceURL != want {
				return fmt.Errorf("generation %d of %d, URL %q", now.Status.ObservedGeneration, now.Generation,
					now.Status.ServiceURL)
			}
			return nil
		})
	}
	url("")
	b.change(t, "my", func(stack *v1alpha2.LlamaStackDistribution) {
		stack.Spec.Networking = &v1alpha2.NetworkingSpec{Port: 8321}
	})
	url("http://my-service." + b.namespace + ".svc.cluster.local:8321")
	b.change(t, "my", func(stack *v1alpha2.LlamaStackDistribution) { stack.Spec.Networking = nil })
	url("")
}
