package controller

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/bounds"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
)

// hostOwner is the stack that owns a host name. An empty host name stands for the requests for every host that no other
// stack has. The owner has no name if the host name is reserved for the stack from which the operator generates it.
type hostOwner struct{ host, namespace, name string }

// claim is a stack that uses or requests a host name.
type claim struct {
	stack *stack
	// holds reports whether the stack is exposed with the host name, whatever its spec requests now.
	holds bool
	// shown reports whether the status of the stack shows the host name. Users cannot write a status, but they can create
	// an Ingress that the stack controls.
	shown bool
}

// rank returns a lower number for a claim that takes precedence.
func (c claim) rank() int {
	switch {
	case c.shown:
		return 0
	case c.holds:
		return 1
	}
	return 2
}

// findHostOwner returns the stack with the same host name that takes precedence over this one, or nil if there is none.
// A stack without precedence is not exposed, so that it does not receive traffic for the other stack.
func (r *Reconciler) findHostOwner(
	ctx context.Context, stack *stack, rule *bounds.Rule, cluster render.Cluster,
) (*hostOwner, error) {
	host, ok := r.exposures.request(stack, rule, cluster)
	switch {
	case !ok:
		return nil, nil
	case isReserved(stack, host, cluster):
		return &hostOwner{host: host}, nil
	}
	claims, err := r.claimsOf(ctx, host, cluster)
	if err != nil {
		return nil, err
	}
	// The object in the cache can be older than the stack of this reconcile.
	own := claim{stack: stack}
	claims = slices.DeleteFunc(claims, func(c claim) bool {
		if c.stack.UID == stack.UID {
			own.holds, own.shown = c.holds, c.shown
			return true
		}
		return false
	})
	first := firstOf(append(claims, own))
	// Operators for v1alpha1 exposed several stacks without a host name. They all stay exposed.
	if first.stack == stack || host == "" && own.holds {
		return nil, nil
	}
	return &hostOwner{host: host, namespace: first.stack.Namespace, name: first.stack.Name}, nil
}

// isReserved reports whether a host name is the one that the operator generates for another stack. It belongs to that
// stack even before the stack exists. Otherwise, anyone could compute the name and take it in advance.
func isReserved(stack *stack, host string, cluster render.Cluster) bool {
	label, generated := strings.CutSuffix(host, "."+domainOf(cluster))
	return generated && label != names.HostLabel(stack.Name, stack.Namespace) && names.IsHostLabel(label)
}

func domainOf(cluster render.Cluster) string {
	return cmp.Or(cluster.Ingress.Domain, names.DefaultDomain)
}

// claimsOf returns the cached stacks that use or request a host name. Callers must not change the stacks.
func (r *Reconciler) claimsOf(ctx context.Context, host string, cluster render.Cluster) ([]claim, error) {
	var found []claim
	seen := map[types.UID]bool{}
	config, _, err := r.config.get(ctx)
	if err != nil {
		return nil, err
	}
	for _, value := range hostsIn(host, domainOf(cluster)) {
		var list v1alpha2.LlamaStackDistributionList
		if err := r.cache.List(ctx, &list, client.MatchingFields{fieldHost: value},
			client.UnsafeDisableDeepCopy); err != nil {
			return nil, fmt.Errorf("list cached stacks with host name %q: %w", host, err)
		}
		for i := range list.Items {
			stack := &list.Items[i]
			if seen[stack.UID] || isReserved(stack, host, cluster) {
				continue
			}
			seen[stack.UID] = true
			asks, holds, err := r.claims(ctx, stack, host, mayBound(config.Bounds, stack.Namespace), cluster)
			if err != nil {
				return nil, err
			}
			if holds || asks && stack.DeletionTimestamp == nil && !isForbidden(stack) {
				found = append(found, claim{stack, holds, host != "" && servedHost(stack) == host})
			}
		}
	}
	return found, nil
}

// claims reports whether a stack requests a host name, and whether it is exposed with the host name. A stack that is
// exposed keeps the host name while its spec is invalid, changes or is too large, and until it is deleted completely.
func (r *Reconciler) claims(
	ctx context.Context, stack *stack, host string, rule *bounds.Rule, cluster render.Cluster,
) (asks, holds bool, err error) {
	requested, ok := r.exposures.request(stack, rule, cluster)
	asks = ok && requested == host
	if host != "" && servedHost(stack) == host {
		return asks, true, nil
	}
	// The live object counts in addition to the status. A status does not show that a stack has no host name.
	if asks || host == "" {
		holds, err = r.isExposed(ctx, stack, func(live string) bool { return live == host })
	}
	return asks, holds, err
}

// isForbidden reports whether the bounds forbid the present spec of a stack. Such a stack cannot be exposed, so it must
// not keep a host name from the stacks of other tenants.
func isForbidden(stack *stack) bool {
	valid := meta.FindStatusCondition(stack.Status.Conditions, v1alpha2.ConditionValidationSucceeded)
	return valid != nil && valid.Reason == v1alpha2.ReasonForbiddenByBounds && valid.ObservedGeneration == stack.Generation
}

// mayBound returns a rule that may apply to a namespace and limits its domains, or nil. It does not read the labels of
// the namespace, because it is called for many stacks.
func mayBound(list bounds.Bounds, namespace string) *bounds.Rule {
	for _, rule := range list.Candidates(namespace) {
		if rule.Domains != nil {
			return &rule
		}
	}
	return nil
}

// firstOf returns the claim that takes precedence, or the zero value if there are no claims. A stack that is exposed
// with the host name precedes, first of all one whose status shows it. If none or several are, the older stack
// precedes.
func firstOf(claims []claim) claim {
	if len(claims) == 0 {
		return claim{}
	}
	return slices.MinFunc(claims, func(a, b claim) int {
		return cmp.Or(a.rank()-b.rank(), a.stack.CreationTimestamp.Compare(b.stack.CreationTimestamp.Time),
			cmp.Compare(a.stack.UID, b.stack.UID))
	})
}

// servedHost returns the host in the external URL of a stack.
func servedHost(stack *stack) string {
	address, err := url.Parse(stack.Status.RouteURL)
	if err != nil {
		return ""
	}
	return address.Host
}
