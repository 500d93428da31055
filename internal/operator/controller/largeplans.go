package controller

import (
	"context"
	"fmt"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/share"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/validate"
)

// largeInput is a size in bytes. A plan counts as large if the total size of its spec and configurations exceeds it.
// Plans for catalog images have at most a fifth of this size.
const largeInput = 128 << 10

// largePlans builds one large plan at a time. Building a plan needs up to a hundred times as much memory as its input,
// so building several large plans at the same time would need more memory than the operator has. Small plans never
// wait. The namespaces with large plans take turns.
type largePlans struct{ slots *share.Slots }

func newLargePlans() largePlans { return largePlans{share.NewSlots(1, 1)} }

// take waits until a plan can be built: a large plan waits until no other large plan is being built. The caller must
// call the returned function after the plan is built.
func (l largePlans) take(ctx context.Context, in *plan.Input) (done func(), err error) {
	if inputBytes(in) <= largeInput {
		return func() {}, nil
	}
	if done, err = l.slots.Take(ctx, in.Object.Namespace); err != nil {
		return nil, fmt.Errorf("wait for another large plan: %w", err)
	}
	return done, nil
}

// inputBytes returns the length of the spec and the configurations of a plan.
func inputBytes(in *plan.Input) int {
	total := validate.SpecBytes(in.Object)
	if in.Base != nil {
		total += len(in.Base.Data)
	}
	if in.Override != nil {
		total += len(in.Override.Data)
	}
	return total
}
