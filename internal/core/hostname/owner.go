package hostname

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/bounds"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
)

// Names contains what is known of the host names in a cluster.
type Names struct {
	Cluster render.Cluster
	Bounds  bounds.Bounds
	// Expose returns the exposure that a stack requests, or nil. See plan.Expose.
	Expose func(*v1alpha2.LlamaStackDistribution) *v1alpha2.ExposeSpec
	// Exposed reports whether an object in the cluster exposes a stack with a host name, which can be empty.
	Exposed func(stack *v1alpha2.LlamaStackDistribution, host string) (bool, error)
	// Stacks returns the stacks that may use or request a host name.
	Stacks func(host string) ([]*v1alpha2.LlamaStackDistribution, error)
}

// Owner is the stack that owns a host name. An empty host name stands for the requests for every host that no other
// stack has. The owner has no name if the host name is reserved for the stack from which the operator generates it.
type Owner struct{ Host, Namespace, Name string }

// Message returns the message for a stack that does not have the host name, without names of objects in other
// namespaces.
func (o *Owner) Message(stack *v1alpha2.LlamaStackDistribution) string {
	whose := "a stack in another namespace"
	switch {
	case o.Name == "":
		return fmt.Sprintf("spec.networking.expose: the operator generates the host name %q for another stack, so the server is not exposed; use another host name", o.Host)
	case o.Namespace == stack.Namespace:
		whose = fmt.Sprintf("stack %q", o.Name)
	}
	if o.Host == "" {
		return fmt.Sprintf("spec.networking.expose: without a host name, the server would receive the requests for every host, which %s receives, so the server is not exposed; use a host name", whose)
	}
	return fmt.Sprintf("spec.networking.expose: host name %q is taken by %s, so the server is not exposed; use another host name", o.Host, whose)
}

// Owner returns the stack with the same host name that takes precedence over this one, or nil if there is none. The
// parameter rule contains the bounds of the stack.
func (n *Names) Owner(stack *v1alpha2.LlamaStackDistribution, rule *bounds.Rule) (*Owner, error) {
	host, ok := n.request(stack, rule)
	if !ok {
		return nil, nil
	}
	return n.OwnerOf(host, stack)
}

// OwnerOf is Owner for a host name that the stack may not request, such as one that the cluster chose for it.
func (n *Names) OwnerOf(host string, stack *v1alpha2.LlamaStackDistribution) (*Owner, error) {
	if n.isReserved(stack, host) {
		return &Owner{Host: host}, nil
	}
	stacks, err := n.Stacks(host)
	if err != nil {
		return nil, err
	}
	claims, err := n.Claims(host, stacks)
	if err != nil {
		return nil, err
	}
	// The listed object can be older than the given one.
	own := Claim{Stack: stack}
	claims = slices.DeleteFunc(claims, func(c Claim) bool {
		if c.Stack.UID == stack.UID {
			own.Holds, own.Shown = c.Holds, c.Shown
			return true
		}
		return false
	})
	first := First(append(claims, own))
	// Operators for v1alpha1 exposed several stacks without a host name. They all stay exposed.
	if first.Stack == stack || host == "" && own.Holds {
		return nil, nil
	}
	return &Owner{Host: host, Namespace: first.Stack.Namespace, Name: first.Stack.Name}, nil
}

// request returns the host name that a stack requests. An empty host name means that the stack receives the requests
// for every host that no other stack has. The function returns false if the stack is not exposed, or if OpenShift
// chooses a host name.
func (n *Names) request(stack *v1alpha2.LlamaStackDistribution, rule *bounds.Rule) (host string, ok bool) {
	wanted := n.Expose(stack)
	host = plan.Hostname(stack, wanted, rule, n.Cluster)
	chosen := n.Cluster.Routes && n.Cluster.Gateway == nil && host == ""
	return host, wanted != nil && !chosen && !n.Cluster.ExposureUnknown
}

// isReserved reports whether a host name is the one that the operator generates for another stack. It belongs to that
// stack even before the stack exists. Otherwise, anyone could compute the name and take it in advance.
func (n *Names) isReserved(stack *v1alpha2.LlamaStackDistribution, host string) bool {
	label, generated := strings.CutSuffix(host, "."+Domain(n.Cluster))
	return generated && label != names.HostLabel(stack.Name, stack.Namespace) && names.IsHostLabel(label)
}

// Domain returns the domain of generated host names.
func Domain(cluster render.Cluster) string {
	return cmp.Or(cluster.Ingress.Domain, names.DefaultDomain)
}
