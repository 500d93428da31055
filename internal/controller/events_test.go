package controller_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	eventsv1 "k8s.io/api/events/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
)

// events returns the operator's events. Others are left out: the API server repairs its list of addresses, and records
// events about Services that are created meanwhile.
func (b *bench) events(t *testing.T) []eventsv1.Event {
	t.Helper()
	var list eventsv1.EventList
	if err := b.List(t.Context(), &list, client.InNamespace(b.namespace)); err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(list.Items,
		func(e eventsv1.Event) bool { return e.ReportingController != names.EventReporter })
}

// reasons returns the sorted reasons of the events, with their counts.
func (b *bench) reasons(t *testing.T) string {
	t.Helper()
	var reasons []string
	for _, event := range b.events(t) {
		reasons = append(reasons, event.Reason)
		if event.Series != nil {
			reasons = append(reasons, fmt.Sprintf("%s ×%d", event.Reason, event.Series.Count))
		}
	}
	slices.Sort(reasons)
	return strings.Join(reasons, ", ")
}

// TestEvents checks that events report changes, at most two for a change, and that they are not repeated.
func TestEvents(t *testing.T) {
	b := newBench(t)
	first := b.direct(t, "events")
	b.create(t, b.stack(t, "my", fullSpec))
	expect := func(want string) {
		t.Helper()
		eventually(t, func() error {
			if got := b.reasons(t); got != want {
				return fmt.Errorf("events %q, want %q", got, want)
			}
			return nil
		})
	}
	b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonSecretNotFound)
	expect(v1alpha2.EventSecretResolutionFailed)
	b.create(t, secret("vllm-creds", "token", "sk-abc"))
	b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
	expect("ConfigGenerated, DeploymentUpdated, SecretResolutionFailed")
	b.rollOut(t, "my")
	b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonMinimumReplicasAvailable)
	b.settled(t, "events")
	first.stop(t)
	b.direct(t, "events")
	b.settled(t, "events")
	expect("ConfigGenerated, DeploymentUpdated, SecretResolutionFailed")

	event := b.events(t)[0]
	if diff := cmp.Diff("LlamaStackDistribution my", event.Regarding.Kind+" "+event.Regarding.Name); diff != "" {
		t.Error(diff)
	}
}
