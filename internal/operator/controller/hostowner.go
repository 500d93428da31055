package controller

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/hostname"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
)

// hostNames returns what the caches contain about the host names in the cluster.
func (r *Reconciler) hostNames(ctx context.Context, cluster render.Cluster) (*hostname.Names, error) {
	config, _, err := r.config.get(ctx)
	if err != nil {
		return nil, err
	}
	return &hostname.Names{
		Cluster: cluster, Bounds: config.Bounds, Expose: r.exposures.of,
		Exposed: func(stack *stack, host string) (bool, error) {
			return r.isExposed(ctx, stack, func(live string) bool { return live == host })
		},
		Stacks: func(host string) ([]*stack, error) { return r.stacksWith(ctx, host, hostname.Domain(cluster)) },
	}, nil
}

// stacksWith returns the cached stacks that may use or request a host name. Callers must not change the stacks.
func (r *Reconciler) stacksWith(ctx context.Context, host, domain string) ([]*stack, error) {
	var found []*stack
	for _, value := range hostsIn(host, domain) {
		var list v1alpha2.LlamaStackDistributionList
		if err := r.cache.List(ctx, &list, client.MatchingFields{fieldHost: value},
			client.UnsafeDisableDeepCopy); err != nil {
			return nil, fmt.Errorf("list cached stacks with host name %q: %w", host, err)
		}
		for i := range list.Items {
			found = append(found, &list.Items[i])
		}
	}
	return found, nil
}
