package bounds

import (
	"path"
	"slices"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/pod-security-admission/api"
)

// Bounds holds the rules for all namespaces, in the order of the operator's ConfigMap.
type Bounds []Rule

// Rule limits the stacks in some namespaces. In the lists other than Namespaces, nil allows everything, and an empty
// list allows nothing.
type Rule struct {
	// Namespaces lists names, or patterns with "*" and "?" as in path.Match. Empty means every namespace.
	Namespaces []string
	// NamespaceLabels contains labels that a namespace must have. Empty means none.
	NamespaceLabels map[string]string
	// Images lists the registries and the repository prefixes (quay.io/team) that the images of a pod may come from.
	Images []string
	// ServiceAccounts lists the allowed ServiceAccounts of the pods, as names or patterns. The ServiceAccount that the
	// operator creates for a stack is always allowed.
	ServiceAccounts []string
	// NoPodTemplate forbids spec.workload.overrides.podTemplate.
	NoPodTemplate bool
	// NoCommand forbids the user's own commands and arguments, including those in probes and lifecycle hooks. It also
	// forbids the containers that podTemplate adds.
	NoCommand bool
	// PodSecurity is the Pod Security Standard that the pods have to meet: baseline forbids, for example, access to the
	// node's namespaces, ports and file system, and restricted also forbids containers that can run as root or gain
	// privileges. Empty or privileged means no standard.
	PodSecurity api.Level
	// Stacks is the maximum number of stacks in each of the namespaces. If there are more stacks, the newest ones violate
	// the bound. Nil means any number.
	Stacks *int
	// Domains lists the domains that may contain the host name in spec.networking.expose.hostname.
	Domains []string
	// IngressClasses lists the allowed values of spec.networking.expose.ingressClassName.
	IngressClasses []string
	// IngressAnnotations lists the keys, or patterns, of allowed annotations in spec.networking.expose.annotations. If it
	// is nil and Domains is not, only annotations that are known to name no hosts are allowed.
	IngressAnnotations []string
}

// For returns the first rule that applies to a namespace with these labels. It returns nil if the namespace has no
// bounds. The labels have no effect unless NeedLabels returns true.
func (b Bounds) For(namespace string, given labels.Set) *Rule {
	for i := range b {
		if b[i].names(namespace) && labels.SelectorFromSet(b[i].NamespaceLabels).Matches(given) {
			return &b[i]
		}
	}
	return nil
}

// Candidates returns the rules that can apply to a namespace, depending on its labels.
func (b Bounds) Candidates(namespace string) Bounds {
	var found Bounds
	for i := range b {
		if !b[i].names(namespace) {
			continue
		}
		if found = append(found, b[i]); len(b[i].NamespaceLabels) == 0 {
			break
		}
	}
	return found
}

// NeedLabels reports whether the rule for a namespace depends on its labels.
func (b Bounds) NeedLabels(namespace string) bool {
	candidates := b.Candidates(namespace)
	return len(candidates) > 0 && len(candidates[0].NamespaceLabels) > 0
}

// names reports whether a rule names a namespace.
func (r *Rule) names(namespace string) bool {
	return len(r.Namespaces) == 0 || matches(r.Namespaces, namespace)
}

// matches reports whether a name matches one of the names and patterns.
func matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		matched, err := path.Match(pattern, name)
		return err == nil && matched
	})
}
