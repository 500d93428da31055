package plan

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

// LacksBase reports whether the base can be in an image whose labels were not read. The plan is then incomplete.
func (in *Input) LacksBase() bool {
	return in.Unread && in.Base == nil && NeedsBase(&in.Object.Spec) && !BaseOptional(in.Object)
}

// withoutBase checks the providers of the spec without a base. The plan gets no configuration, so it can only be used
// to check the objects.
func (p *Plan) withoutBase(in Input) error {
	p.ServesTLS = render.TLSSecret(&in.Object.Spec) != ""
	errs := stackconfig.CheckProviders(in.Intent, in.Distribution.Release)
	if in.Distribution.DetectedBy == distribution.Unknown || in.Distribution.TagAlone() {
		errs = inEveryRelease(errs, in)
	}
	if len(errs) > 0 {
		return refused(in, &stackconfig.Report{Errors: errs})
	}
	return nil
}

// inEveryRelease returns those errors whose fields have an error in every release that users can request, because the
// label of the image can name any of them.
func inEveryRelease(errs field.ErrorList, in Input) field.ErrorList {
	for _, line := range release.Offered() {
		match, err := release.Lookup(line)
		if len(errs) == 0 || err != nil {
			break
		}
		other := stackconfig.CheckProviders(in.Intent, match.Release)
		errs = slices.DeleteFunc(errs, func(one *field.Error) bool {
			return !slices.ContainsFunc(other, func(err *field.Error) bool { return err.Field == one.Field })
		})
	}
	return errs
}
