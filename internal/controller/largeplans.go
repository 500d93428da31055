package controller

import (
	"context"
	"fmt"

	"github.com/llamastack/llama-stack-k8s-operator/internal/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/validate"
)

// largeInput is the size, in bytes of the spec and of configurations, from which a plan counts as large. The
// catalogue's plans have at most a fifth of it.
const largeInput = 128 << 10

// largePlans builds one large plan at a time. A plan needs up to a hundred times the bytes of its input, so that
// several workers at once would need more memory than the operator has. Small plans never wait.
type largePlans chan struct{}

func newLargePlans() largePlans { return make(largePlans, 1) }

// build builds a plan. A large plan waits for its turn.
func (l largePlans) build(ctx context.Context, in plan.Input) (*plan.Plan, error) {
	done, err := l.take(ctx, &in)
	if err != nil {
		return nil, err
	}
	defer done() // also after a panic, which runStep recovers
	return plan.Build(in)
}

// take waits for the turn of a plan, and returns a function that ends the turn.
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

// inputBytes returns the length of the texts that a plan is built from.
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
