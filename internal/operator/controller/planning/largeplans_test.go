package planning

import (
	"context"
	"errors"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// TestLargePlansTakeTurns checks that a large plan waits while another large plan is being built, until the context
// ends, and that a small plan does not wait.
func TestLargePlansTakeTurns(t *testing.T) {
	ended, end := context.WithCancel(t.Context())
	end()
	plans := New(Options{}).largePlans
	large := &plan.Input{Object: &v1alpha2.LlamaStackDistribution{}, Base: &plan.Base{Data: make([]byte, largeInput)}}
	another, err := plans.take(t.Context(), large)
	testutil.Must(t, err)
	if _, err := plans.take(ended, large); !errors.Is(err, context.Canceled) {
		t.Errorf("a large plan did not wait for another large plan: error %v", err)
	}
	small := &plan.Input{Object: &v1alpha2.LlamaStackDistribution{}, Base: &plan.Base{Data: []byte("x")}}
	if _, err := plans.take(ended, small); err != nil {
		t.Errorf("a small plan waited for a large plan: %v", err)
	}
	another()
	done, err := plans.take(t.Context(), large)
	if err != nil {
		t.Fatalf("a large plan waits for a completed plan: %v", err)
	}
	done()
}
