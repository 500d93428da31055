package controller

import (
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// TestUnknownDistribution checks that the error for an unknown distribution lists the known distributions.
func TestUnknownDistribution(t *testing.T) {
	_, err := newFixture(t).runSteps(t, testutil.NewStack(t, `{distribution: {name: startr}}`), "image")
	checkFailure(t, err, &status.Failure{
		Condition: v1alpha2.ConditionValidationSucceeded, Reason: v1alpha2.ReasonUnknownDistribution,
		Message: `spec.distribution.name: unknown distribution "startr"; known distributions: meta-reference-gpu, postgres-demo, remote-vllm, starter; use one of them, or set an image; an administrator can add a name under the key image-overrides in the operator's ConfigMap`,
	})
}
