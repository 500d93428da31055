package hostname

import (
	"cmp"
	"net/url"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/bounds"
)

// Claim is a stack that uses or requests a host name.
type Claim struct {
	Stack *v1alpha2.LlamaStackDistribution
	// Holds reports whether the stack is exposed with the host name, whatever its spec requests now.
	Holds bool
	// Shown reports whether the status of the stack shows the host name. Users cannot write a status, but they can create
	// an Ingress that the stack controls.
	Shown bool
}

// rank returns a lower number for a claim that takes precedence.
func (c Claim) rank() int {
	switch {
	case c.Shown:
		return 0
	case c.Holds:
		return 1
	}
	return 2
}

// Claims returns those of the given stacks that use or request a host name. A stack may be in the list twice.
func (n *Names) Claims(host string, stacks []*v1alpha2.LlamaStackDistribution) ([]Claim, error) {
	var found []Claim
	seen := map[types.UID]bool{}
	for _, stack := range stacks {
		if seen[stack.UID] || n.isReserved(stack, host) {
			continue
		}
		seen[stack.UID] = true
		asks, holds, err := n.claims(stack, host)
		if err != nil {
			return nil, err
		}
		if holds || asks && stack.DeletionTimestamp == nil && !Forbidden(stack) {
			found = append(found, Claim{stack, holds, host != "" && Served(stack) == host})
		}
	}
	return found, nil
}

// claims reports whether a stack requests a host name, and whether it is exposed with the host name. A stack that is
// exposed keeps the host name while its spec is invalid, changes or is too large, and until it is deleted completely.
func (n *Names) claims(stack *v1alpha2.LlamaStackDistribution, host string) (asks, holds bool, err error) {
	requested, ok := n.request(stack, mayBound(n.Bounds, stack.Namespace))
	asks = ok && requested == host
	if host != "" && Served(stack) == host {
		return asks, true, nil
	}
	// The live object counts in addition to the status. A status does not show that a stack has no host name.
	if asks || host == "" {
		holds, err = n.Exposed(stack, host)
	}
	return asks, holds, err
}

// Forbidden reports whether the bounds forbid the present spec of a stack. Such a stack cannot be exposed, so it must
// not keep a host name from the stacks of other tenants.
func Forbidden(stack *v1alpha2.LlamaStackDistribution) bool {
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

// First returns the claim that takes precedence, or the zero value if there are no claims. A stack that is exposed with
// the host name precedes, first of all one whose status shows it. If none or several are, the older stack precedes.
func First(claims []Claim) Claim {
	if len(claims) == 0 {
		return Claim{}
	}
	return slices.MinFunc(claims, func(a, b Claim) int {
		return cmp.Or(a.rank()-b.rank(), a.Stack.CreationTimestamp.Compare(b.Stack.CreationTimestamp.Time),
			cmp.Compare(a.Stack.UID, b.Stack.UID))
	})
}

// Served returns the host in the external URL of a stack.
func Served(stack *v1alpha2.LlamaStackDistribution) string {
	address, err := url.Parse(stack.Status.RouteURL)
	if err != nil {
		return ""
	}
	return address.Host
}
