package controller

import (
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/operatorconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// TestUnknownDistribution checks that an administrator's own name works like a name in the catalog, and that the error
// for an unknown name lists all names.
func TestUnknownDistribution(t *testing.T) {
	f := newFixture(t, testutil.NewOperatorConfigMap(operatorconfig.KeyImageOverrides, "rh-dev: quay.io/x/rh-dev:0.7.3"))
	s, err := f.runSteps(t, testutil.NewStack(t, `{distribution: {name: rh-dev}}`), "image")
	if image := s.image; err != nil || image.Distribution.Image != "quay.io/x/rh-dev:0.7.3" ||
		image.From != v1alpha2.ImageFromOperatorConfig {
		t.Errorf("image %q from %s, error %v", image.Distribution.Image, image.From, err)
	}
	_, err = f.runSteps(t, testutil.NewStack(t, `{distribution: {name: startr}}`), "image")
	checkFailure(t, err, &status.Failure{
		Condition: v1alpha2.ConditionValidationSucceeded, Reason: v1alpha2.ReasonUnknownDistribution,
		Message: `spec.distribution.name: unknown distribution "startr"; known distributions: meta-reference-gpu, postgres-demo, remote-vllm, rh-dev, starter; use one of them, or set an image; an administrator can add a name under the key image-overrides in the operator's ConfigMap`,
	})
}
