package validate

import (
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// maxResources is how many models, tools and shields each an object may have.
const maxResources = 500

func resourceCount(obj *object) field.ErrorList {
	r := obj.Spec.Resources
	if r == nil {
		return nil
	}
	errs := atMost(spec("resources", "models"), len(r.Models), maxResources)
	errs = append(errs, atMost(spec("resources", "tools"), len(r.Tools), maxResources)...)
	return append(errs, atMost(spec("resources", "shields"), len(r.Shields), maxResources)...)
}
