package controller

import (
	"errors"
	"slices"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/apply"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/refusal"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
)

// rejection is a child that the API server rejected.
type rejection struct {
	child apply.Child
	err   error
}

// reportRejections returns the errors of the rejected children. It returns transient errors only if there are no other
// errors.
func reportRejections(rejections []rejection) error {
	var lasting, all []error
	for _, one := range rejections {
		all = append(all, one.err)
		if !refusal.Transient(one.err) {
			lasting = append(lasting, one.err)
		}
	}
	if len(lasting) > 0 {
		return errors.Join(lasting...)
	}
	return errors.Join(all...)
}

// rejected reports whether a child of one of these kinds was rejected.
func (a *applied) rejected(kinds ...string) bool {
	return slices.ContainsFunc(a.rejections, func(r rejection) bool { return slices.Contains(kinds, r.child.Kind.Kind) })
}

// rejectedExposure reports whether the API server rejected an object of one of the kinds that can expose a stack.
func (a *applied) rejectedExposure() bool {
	for _, kind := range render.ExposureKinds() {
		if a.rejected(kind.Kind) {
			return true
		}
	}
	return false
}
