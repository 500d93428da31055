package planner

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/kube"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/dryrun"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/hostname"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
)

// hostOwner returns another stack in the cluster that owns the host name of a stack, or nil.
func (r *Reader) hostOwner(
	ctx context.Context, m *dryrun.Manifests, object *v1alpha2.LlamaStackDistribution,
) (*hostname.Owner, error) {
	rule, cluster := m.Exposing(object.Namespace)
	known := hostname.Names{
		Cluster: cluster, Bounds: r.Config.Bounds,
		Expose: r.expose,
		// The status shows whether the operator exposes a stack as its spec requests.
		Exposed: func(s *v1alpha2.LlamaStackDistribution, host string) (bool, error) {
			exposed := meta.IsStatusConditionTrue(s.Status.Conditions, v1alpha2.ConditionExposed)
			return exposed && plan.Hostname(s, r.expose(s), nil, cluster) == host, nil
		},
		Stacks: func(string) ([]*v1alpha2.LlamaStackDistribution, error) { return r.allStacks(ctx) },
	}
	if object.UID == "" { // all other stacks are older than a stack that does not exist yet
		created := *object
		created.CreationTimestamp = metav1.Now()
		object = &created
	}
	return known.Owner(object, rule)
}

// expose returns the exposure that a stack requests. The command compares each stack with all others, so it decodes
// each exposure once.
func (r *Reader) expose(stack *v1alpha2.LlamaStackDistribution) *v1alpha2.ExposeSpec {
	wanted, known := r.exposed[stack]
	if !known {
		wanted = plan.Expose(&stack.Spec)
		r.exposed[stack] = wanted
	}
	return wanted
}

// allStacks returns the stacks in all namespaces that the caller can read.
func (r *Reader) allStacks(ctx context.Context) ([]*v1alpha2.LlamaStackDistribution, error) {
	if r.everywhere != nil {
		return r.everywhere, nil
	}
	found, all, err := r.Cluster.Everywhere(ctx)
	if _, denied := errors.AsType[*kube.Denied](err); err != nil && !denied {
		return nil, err
	}
	if !all {
		r.Missing("the host names of other stacks: you cannot list the stacks in all namespaces, so this command does not " +
			"check whether a stack in another namespace has the same host name")
	}
	r.everywhere = []*v1alpha2.LlamaStackDistribution{}
	for i := range found {
		r.everywhere = append(r.everywhere, &found[i])
	}
	return r.everywhere, nil
}
