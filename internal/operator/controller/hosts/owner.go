package hosts

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/hostname"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
)

// Names returns what the caches contain about the host names in the cluster.
func (h *Hosts) Names(ctx context.Context, cluster render.Cluster) (*hostname.Names, error) {
	config, err := h.settings.Config(ctx)
	if err != nil {
		return nil, err
	}
	return &hostname.Names{
		Cluster: cluster, Bounds: config.Bounds, Expose: h.exposures.of,
		Exposed: func(stack *stack, host string) (bool, error) { return h.isExposed(ctx, stack, host) },
		Stacks: func(host string) ([]*stack, error) {
			return h.stacksWith(ctx, host, hostname.Domain(cluster))
		},
	}, nil
}

// stacksWith returns the cached stacks that may use or request a host name. Callers must not change the stacks.
func (h *Hosts) stacksWith(ctx context.Context, host, domain string) ([]*stack, error) {
	var found []*stack
	for _, value := range hostsIn(host, domain) {
		var list v1alpha2.LlamaStackDistributionList
		if err := h.cache.List(ctx, &list, client.MatchingFields{field: value},
			client.UnsafeDisableDeepCopy); err != nil {
			return nil, fmt.Errorf("list cached stacks with host name %q: %w", host, err)
		}
		for i := range list.Items {
			found = append(found, &list.Items[i])
		}
	}
	return found, nil
}

// Uninformed returns requests for the stacks that use or request one of the host names, which have the form of
// the index by host name. It leaves out the stacks whose status already shows who owns the host name. Otherwise, every
// stack that a tenant adds would result in a reconcile of all its stacks with the same host name.
func (h *Hosts) Uninformed(ctx context.Context, hosts []string) ([]reconcile.Request, error) {
	config, err := h.settings.Config(ctx)
	if err != nil {
		return nil, err
	}
	cluster := h.platform(config)
	names, err := h.Names(ctx, cluster)
	if err != nil {
		return nil, err
	}
	var requests []reconcile.Request
	for _, host := range hosts {
		if label, generated := strings.CutSuffix(host, anyDomain); generated {
			host = label + hostname.Domain(cluster)
		} else if host == noHost {
			host = ""
		}
		stacks, err := names.Stacks(host)
		if err != nil {
			return nil, err
		}
		claims, err := names.Claims(host, stacks)
		if err != nil {
			return nil, err
		}
		owner := hostname.First(claims)
		for _, one := range claims {
			if !knowsOwner(one, owner, host) {
				requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(one.Stack)})
			}
		}
	}
	return requests, nil
}

// knowsOwner reports whether the status of a stack shows who owns its host name, so that a reconcile changes nothing.
// If a reconcile that has not ended yet exposes the stack, the change to the status results in another request.
func knowsOwner(one, owner hostname.Claim, host string) bool {
	if one.Holds || one.Stack == owner.Stack {
		return one.Holds && one.Stack == owner.Stack
	}
	exposed := meta.FindStatusCondition(one.Stack.Status.Conditions, v1alpha2.ConditionExposed)
	taken := hostname.Owner{Host: host, Namespace: owner.Stack.Namespace, Name: owner.Stack.Name}
	return exposed != nil && exposed.Reason == v1alpha2.ReasonHostnameTaken && exposed.Message == taken.Message(one.Stack)
}
