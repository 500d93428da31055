package controller

import (
	"context"
	"fmt"

	"github.com/llamastack/llama-stack-k8s-operator/internal/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/validate"
)

// largeInput is how many bytes of a spec and of configurations make a plan a large one. Those of the catalogue have a
// fifth of it at the most.
const largeInput = 128 << 10

// largePlans makes one large plan at a time. A plan needs up to a hundred times the bytes that it is made of, so that the
// workers together would need more memory than the operator has. Small plans never wait.
type largePlans chan struct{}

func newLargePlans() largePlans { return make(largePlans, 1) }

// build makes a plan in its turn.
func (l largePlans) build(ctx context.Context, in plan.Input) (*plan.Plan, error) {
	done, err := l.take(ctx, &in)
	if err != nil {
		return nil, err
	}
	defer done() // after a panic too, which a step survives
	return plan.Build(in)
}

// take waits for the turn of a plan, and returns what ends it.
func (l largePlans) take(ctx context.Context, in *plan.Input) (done func(), err error) {
	if inputBytes(in) <= largeInput {
		return func() {}, nil
	}
	select {
	case l <- struct{}{}:
		return func() { <-l }, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for another large plan: %w", ctx.Err())
	}
}

// inputBytes is the length of the texts that a plan is made of.
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
