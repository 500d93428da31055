package images

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve/registry"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/facts"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/operatorconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
)

// stack is the stack whose images are read.
type stack = v1alpha2.LlamaStackDistribution

// Image is the result of resolving spec.distribution.
type Image struct {
	facts.Image
	// Config is the operator's configuration. All steps of a reconcile use this configuration.
	Config operatorconfig.Config
	// Overrides holds the images that replace images in the catalog.
	Overrides facts.Overrides
}

// Resolve determines the server's image and release.
func Resolve(
	stack *stack, workload *facts.Running, config operatorconfig.Config, related distribution.Overrides,
) (Image, error) {
	found := Image{Config: config, Overrides: facts.NewOverrides(related, config)}
	var err error
	if found.Image, err = workload.Image(stack.Spec.Distribution, found.Overrides); err != nil {
		return found, unknownDistribution(err)
	}
	return found, nil
}

func unknownDistribution(err error) error {
	reason := v1alpha2.ReasonInvalidSpec
	if _, ok := errors.AsType[*distribution.UnknownError](err); ok {
		reason = v1alpha2.ReasonUnknownDistribution
	}
	return &status.Failure{
		Condition: v1alpha2.ConditionValidationSucceeded, Reason: reason, Retry: status.OnObjectChange,
		Message: distribution.Path(err) + ": " + err.Error(),
	}
}

// KeptBase reads a base configuration that a stack keeps. It returns nil if there is none.
type KeptBase = func(ctx context.Context, stack types.NamespacedName, uid types.UID, name string) ([]byte, error)

// Reader reads the images of stacks.
type Reader struct {
	Pool *registry.Pool

	direct     client.Reader
	keptBase   KeptBase
	identities registry.Identities
}

// New returns a reader whose pool has not started. The client bypasses the caches. New sets the credentials in the
// options of the pool.
func New(
	direct client.Reader, keptBase KeptBase, identities registry.Identities, options registry.PoolOptions,
) *Reader {
	r := &Reader{direct: direct, keptBase: keptBase, identities: identities}
	options.Credentials = r.pullCredentials
	r.Pool = registry.NewPool(options)
	return r
}

// Forget drops what is known about the images of a deleted stack.
func (r *Reader) Forget(stack types.NamespacedName) {
	r.Pool.Forget(stack)
	r.Pool.ForgetProviders(stack)
	r.Pool.Unwatch(stack)
}
