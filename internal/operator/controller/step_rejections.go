package controller

import (
	"errors"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

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

// rejected reports whether a child of this kind was rejected.
func (a *applied) rejected(kind string) bool {
	return slices.ContainsFunc(a.rejections, func(r rejection) bool { return r.child.Kind.Kind == kind })
}

// rejectedExposure reports whether the API server rejected an object of one of the kinds that can expose a stack.
func (a *applied) rejectedExposure() bool {
	return slices.ContainsFunc(render.ExposureKinds(),
		func(kind schema.GroupVersionKind) bool { return a.rejected(kind.Kind) })
}
