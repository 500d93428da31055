package controller_test

import (
	"path/filepath"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/controllertest"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// TestRunningCallsOfANewStack checks that a new stack costs few calls: a write for each child, one for the status and
// one for an event, and the reads that a decision needs.
func TestRunningCallsOfANewStack(t *testing.T) {
	t.Parallel()
	const maxWrites, maxReads = 7, 3
	env := controllertest.NewEnvironment(t)
	env.StartOperator(t, "new")
	objects, err := testutil.ReadObjects(filepath.Join(testutil.Root(), "config", "samples", "v1alpha2-simple.yaml"))
	testutil.Must(t, err)
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
