package admission

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/trial"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// maxTrials bounds the number of stacks whose objects the API server judges at the same time. maxWaiting bounds the
// number of stacks that wait for their turn in memory, in addition to those limits that also apply to other checks.
const (
	maxTrials           = 4
	trialsPerNamespace  = 2
	maxWaiting          = 32
	waitingPerNamespace = 8
)

// maxLookups bounds the number of concurrent reads of namespaces, and maxNamespaces the number of names that the
// Validator remembers. Only names of namespaces that exist are remembered.
const (
	maxLookups    = 2
	maxNamespaces = 4096
)

// exists reports whether a namespace exists, or might exist because the operator cannot read it. Anyone who can connect
// can send reviews for invented namespaces. These must not take the places of the others, and need no plan, because the
// API server stores nothing there.
func (v *Validator) exists(ctx context.Context, namespace string) bool {
	if _, known := v.namespaces.Get(namespace); known {
		return true
	}
	if len(validation.IsDNS1123Label(namespace)) > 0 {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, configPatience)
	defer cancel()
	done, err := v.lookups.Take(ctx, "") // all unknown names together
	if err != nil {
		return false
	}
	defer done()
	if _, err = v.options.NamespaceLabels(ctx, namespace); err == nil {
		v.namespaces.Add(namespace, nil)
	}
	return !apierrors.IsNotFound(err) && ctx.Err() == nil
}

// tries reports whether there is a dry run for a stack with these objects.
func (v *Validator) tries(object *stack, rendered *trial.Rendering) bool {
	return rendered != nil && v.options.Writer != nil && !names.Paused(object.Annotations)
}

// try asks the API server whether it would accept the objects of a stack that the operator would apply. The parameter
// stored contains the objects of the stored stack, or is nil. There is no result if there are too many requests, or if
// ctx ends first. The operator then reports the API server's answer in the status.
func (v *Validator) try(ctx context.Context, namespace string, rendered, stored *trial.Rendering) trial.Result {
	leaveQueue, ok := v.waiting.Try(namespace)
	if !ok {
		return trial.Result{}
	}
	defer leaveQueue()
	leave(ctx)
	done, err := v.trials.Take(ctx, namespace)
	if err != nil {
		return trial.Result{}
	}
	defer done()
	found := trial.Run(ctx, v.options.Writer, rendered, stored)
	found.Errors, found.Warnings = intent.BoundedTexts(found.Errors), intent.BoundedTexts(found.Warnings)
	return found
}
