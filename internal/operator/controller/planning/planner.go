package planning

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/share"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/facts"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/hosts"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/images"
)

// Options configures a Planner.
type Options struct {
	// Cache is the reader for watched objects. Direct is the reader that bypasses the caches.
	Cache, Direct client.Reader
	ConfigMaps    *resolve.ConfigMaps
	DigestKeys    *resolve.DigestKeys
	// Settings reads the operator's ConfigMap.
	Settings *resolve.OperatorConfig
	// Watch records the objects that a stack refers to, so that a change to one of them requeues the stack.
	Watch         func(types.NamespacedName, []intent.SecretUse, []intent.ConfigMapUse)
	Hosts         *hosts.Hosts
	RelatedImages distribution.Overrides
	Version       string
	OpenShift     bool
	Now           func() time.Time
	// Configure builds the configuration of a server.
	Configure func(plan.Input) (*plan.Configuration, error)
}

// Planner plans stacks. Each of its methods is one step of a reconcile.
type Planner struct {
	Options
	largePlans largePlans
	answers    *resolve.Answers
}

// New returns a planner.
func New(options Options) *Planner {
	return &Planner{Options: options, largePlans: largePlans{share.NewSlots(1, 1)}, answers: resolve.NewAnswers()}
}

type (
	stack    = v1alpha2.LlamaStackDistribution
	workload = facts.Running
)

// Image determines the server's image and release.
func (p *Planner) Image(ctx context.Context, stack *stack, workload *workload) (images.Image, error) {
	config, err := p.Settings.Config(ctx)
	if err != nil {
		return images.Image{}, err
	}
	return images.Resolve(stack, workload, config, p.RelatedImages)
}
