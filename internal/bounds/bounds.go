package bounds

import (
	"path"
	"slices"

	"k8s.io/pod-security-admission/api"
)

// Bounds are the rules of all namespaces, in the order of the operator's ConfigMap.
type Bounds []Rule

// Rule bounds the stacks of some namespaces. A list that is nil bounds nothing; an empty one allows nothing.
type Rule struct {
	// Namespaces are names, or patterns with "*" and "?" as in path.Match. Empty: every namespace.
	Namespaces []string
	// Images are registries, or what begins a repository (quay.io/team), that the images of a pod may come from.
	Images []string
	// ServiceAccounts are names or patterns that spec.workload.overrides.serviceAccountName may have.
	ServiceAccounts []string
	// NoPodTemplate forbids spec.workload.overrides.podTemplate.
	NoPodTemplate bool
	// NoCommand forbids commands and arguments of the user's own, also those of probes and lifecycle hooks, and containers
	// beside the server's.
	NoCommand bool
	// PodSecurity is the Pod Security Standard that the pods have to meet: baseline forbids the namespaces, ports and file
	// system of the node, restricted also a user of the image's choice. Empty or privileged: none.
	PodSecurity api.Level
	// Stacks is the largest number of stacks in each of the namespaces; the oldest ones count first. Nil: any number.
	Stacks *int
	// Domains are those that spec.networking.expose.hostname may lie in.
	Domains []string
	// IngressClasses are those that spec.networking.expose.ingressClassName may name.
	IngressClasses []string
	// IngressAnnotations are the keys, or patterns, of annotations that spec.networking.expose.annotations may have.
	IngressAnnotations []string
}

// For returns the rule of a namespace: the first one that has it. Nil: the namespace has no bounds.
func (b Bounds) For(namespace string) *Rule {
	for i := range b {
		if len(b[i].Namespaces) == 0 || matches(b[i].Namespaces, namespace) {
			return &b[i]
		}
	}
	return nil
}

// matches reports whether a name is among names and patterns.
func matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		matched, err := path.Match(pattern, name)
		return err == nil && matched
	})
}
