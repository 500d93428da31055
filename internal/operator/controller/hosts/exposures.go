package hosts

import (
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/utils/lru"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
)

// rememberedExposures is the number of versions of stacks whose host names exposures remembers.
const rememberedExposures = 20_000

// exposures decodes `spec.networking.expose` once for each version of a stack. The index and the event handler decode
// each version of a stack, and a reconcile needs the host names of all other stacks with the same host name, but the
// text can have 256 KiB. The result contains only what a host name depends on.
type exposures struct {
	known  *lru.Cache // exposureKey → *v1alpha2.ExposeSpec
	decode func(*v1alpha2.LlamaStackDistributionSpec) *v1alpha2.ExposeSpec
}

type exposureKey struct {
	uid        types.UID
	generation int64
}

func newExposures() *exposures { return &exposures{lru.New(rememberedExposures), plan.Expose} }

// of returns the exposure that a stack requests, without annotations, or nil if the stack is not exposed.
func (e *exposures) of(stack *stack) *v1alpha2.ExposeSpec {
	if stack.Spec.Networking == nil {
		return nil
	}
	key := exposureKey{stack.UID, stack.Generation}
	if known, ok := e.known.Get(key); ok {
		return known.(*v1alpha2.ExposeSpec)
	}
	wanted := e.decode(&stack.Spec)
	switch {
	case wanted == nil:
	case len(wanted.Hostname) > validation.DNS1123SubdomainMaxLength: // no stack is exposed with such a host name
		wanted = nil
	default:
		wanted = &v1alpha2.ExposeSpec{Hostname: wanted.Hostname}
	}
	if stack.UID != "" { // an object that is not from an API server has no version
		e.known.Add(key, wanted)
	}
	return wanted
}

// hostname returns the host name of a stack without bounds. See render.Hostname.
func (e *exposures) hostname(stack *stack, cluster render.Cluster) string {
	return plan.Hostname(stack, e.of(stack), nil, cluster)
}
