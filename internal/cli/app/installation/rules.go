package installation

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/config"
)

// maxMissing is the maximum number of missing permissions that a message lists.
const maxMissing = 5

// checkRules compares the operator's permissions with those that it needs.
func checkRules(r *report, facts *Facts) {
	if facts.Rules.Problem != "" {
		r.unknown("the operator's permissions", facts.Rules.Problem)
		return
	}
	if len(facts.Operators.Value) == 0 {
		return // checkOperators reports the missing operator
	}
	everywhere := facts.Rules.Value[""]
	watched := slices.Sorted(maps.Keys(facts.Rules.Value))
	watched = slices.DeleteFunc(watched, func(namespace string) bool { return namespace == "" })
	if len(watched) == 0 {
		missing(r, config.Role, everywhere, "in all namespaces")
	}
	for _, namespace := range watched {
		missing(
			r, config.NamespacedRole, slices.Concat(everywhere, facts.Rules.Value[namespace]),
			fmt.Sprintf("in namespace %q", namespace),
		)
	}
	if len(r.findings) == 0 {
		r.ok("the operator has the permissions that it needs")
	}
}

// missing adds an error if rules do not grant all permissions in the role. The error lists the missing permissions.
func missing(r *report, role []byte, rules []rbacv1.PolicyRule, where string) {
	var wanted rbacv1.ClusterRole // also decodes a Role, which has the same fields
	if err := yaml.Unmarshal(role, &wanted); err != nil {
		panic(err) // This never happens, because the role is embedded in the binary.
	}
	var rights []string
	for _, right := range expand(wanted.Rules) {
		if !slices.ContainsFunc(rules, right.isIn) {
			rights = append(rights, right.String())
		}
	}
	if len(rights) == 0 {
		return
	}
	text := list(rights[:min(len(rights), maxMissing)])
	if more := len(rights) - maxMissing; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	r.add(Error, fmt.Sprintf("the operator lacks permissions %s: %s", where, text), reinstall)
}

// single is one permission in a rule.
type single struct{ group, resource, name, verb string }

// String describes the permission.
func (s single) String() string {
	resource := s.resource
	if s.group != "" {
		resource += "." + s.group
	}
	if s.name != "" {
		resource += "/" + s.name
	}
	return s.verb + " " + resource
}

// expand splits rules into single permissions.
func expand(rules []rbacv1.PolicyRule) []single {
	var all []single
	for _, rule := range rules {
		objects := rule.ResourceNames
		if len(objects) == 0 {
			objects = []string{""}
		}
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, name := range objects {
					for _, verb := range rule.Verbs {
						all = append(all, single{group, resource, name, verb})
					}
				}
			}
		}
	}
	return all
}

// isIn reports whether a rule grants the permission.
func (s single) isIn(rule rbacv1.PolicyRule) bool {
	names := rule.ResourceNames
	return has(rule.APIGroups, s.group) && hasResource(rule.Resources, s.resource) && has(rule.Verbs, s.verb) &&
		(len(names) == 0 || s.name != "" && slices.Contains(names, s.name))
}

func has(list []string, item string) bool {
	return slices.Contains(list, item) || slices.Contains(list, "*")
}

// hasResource reports whether a list contains a resource. An entry such as "*/status" stands for the subresource
// "status" of every resource.
func hasResource(list []string, resource string) bool {
	_, subresource, found := strings.Cut(resource, "/")
	return has(list, resource) || found && slices.Contains(list, "*/"+subresource)
}
