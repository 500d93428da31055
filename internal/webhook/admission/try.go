package admission

import (
	"context"

	"github.com/llamastack/llama-stack-k8s-operator/internal/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/trial"
)

// maxTrials bounds the number of stacks whose objects the API server judges at the same time. maxWaiting bounds the
// number of stacks that wait for their turn in memory, in addition to those limits that also apply to other checks.
const (
	maxTrials           = 4
	trialsPerNamespace  = 2
	maxWaiting          = 32
	waitingPerNamespace = 8
)

// try asks the API server whether it would accept the objects of a stack that the operator would apply. An update only
// concerns the objects that it changes. try returns nothing if there are too many requests, or if ctx ends first: the
// operator then reports the API server's answer in the status.
func (v *Validator) try(ctx context.Context, before, object *stack, rendered *trial.Rendering) trial.Result {
	if rendered == nil || v.options.Writer == nil || names.Paused(object.Annotations) {
		return trial.Result{}
	}
	var stored *trial.Rendering
	if before != nil {
		stored = v.check(ctx, before).rendering
		if !names.Paused(before.Annotations) { // the operator has not applied the objects of a paused stack
			rendered.Unlike(stored)
		}
	}
	leaveQueue, ok := v.waiting.Try(object.Namespace)
	if !ok {
		return trial.Result{}
	}
	defer leaveQueue()
	leave(ctx)
	done, err := v.trials.Take(ctx, object.Namespace)
	if err != nil {
		return trial.Result{}
	}
	defer done()
	found := trial.Run(ctx, v.options.Writer, rendered, stored)
	found.Errors, found.Warnings = intent.BoundedTexts(found.Errors), intent.BoundedTexts(found.Warnings)
	return found
}
