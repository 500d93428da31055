package bounds

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Describe returns the limits of a rule, each in the form in which an administrator writes it.
func (r *Rule) Describe() []string {
	var limits []string
	add := func(field, value string) { limits = append(limits, field+": "+value) }
	list := func(field string, values []string) {
		if values != nil {
			add(field, "["+strings.Join(values, ", ")+"]")
		}
	}
	list("images", r.Images)
	list("serviceAccounts", r.ServiceAccounts)
	if r.NoPodTemplate {
		add("podTemplate", "false")
	}
	if r.NoCommand {
		add("command", "false")
	}
	if r.PodSecurity != "" {
		add("podSecurity", string(r.PodSecurity))
	}
	if r.Stacks != nil {
		add("stacks", strconv.Itoa(*r.Stacks))
	}
	list("domains", r.Domains)
	list("ingressClasses", r.IngressClasses)
	list("ingressAnnotations", r.IngressAnnotations)
	return limits
}

// Selection returns the namespaces and the labels to which a rule applies, in the form in which an administrator writes
// them.
func (r *Rule) Selection() string {
	var parts []string
	if len(r.Namespaces) > 0 {
		parts = append(parts, "namespaces: ["+strings.Join(r.Namespaces, ", ")+"]")
	}
	if len(r.NamespaceLabels) > 0 {
		var labels []string
		for _, key := range slices.Sorted(maps.Keys(r.NamespaceLabels)) {
			labels = append(labels, key+": "+r.NamespaceLabels[key])
		}
		parts = append(parts, "namespaceLabels: {"+strings.Join(labels, ", ")+"}")
	}
	if len(parts) == 0 {
		return "every namespace"
	}
	return strings.Join(parts, ", ")
}
