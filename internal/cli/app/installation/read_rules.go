package installation

import (
	"context"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// rules reads the rules that role bindings grant to the operator's ServiceAccount.
func (e *examiner) rules(ctx context.Context) {
	if len(e.facts.Operators.Value) == 0 {
		return
	}
	operator := &e.facts.Operators.Value[0]
	for i := range e.facts.Operators.Value {
		if e.facts.Operators.Value[i].Namespace == e.facts.Namespace {
			operator = &e.facts.Operators.Value[i]
			break
		}
	}
	account := rbacv1.Subject{
		Kind: rbacv1.ServiceAccountKind, Namespace: operator.Namespace, Name: operator.Spec.Template.Spec.ServiceAccountName,
	}
	rules := map[string][]rbacv1.PolicyRule{}
	everywhere := &rbacv1.ClusterRoleBindingList{}
	err := e.List(ctx, everywhere)
	grant := func(subjects []rbacv1.Subject, role rbacv1.RoleRef, namespace string) {
		if err == nil && binds(subjects, account) {
			var found []rbacv1.PolicyRule
			found, err = e.role(ctx, role, namespace)
			rules[namespace] = append(rules[namespace], found...)
		}
	}
	for i := range everywhere.Items {
		grant(everywhere.Items[i].Subjects, everywhere.Items[i].RoleRef, "")
	}
	for _, namespace := range watchedNamespaces(operator) {
		if err != nil {
			break
		}
		rules[namespace] = []rbacv1.PolicyRule{}
		within := &rbacv1.RoleBindingList{}
		err = e.List(ctx, within, client.InNamespace(namespace))
		for i := range within.Items {
			grant(within.Items[i].Subjects, within.Items[i].RoleRef, namespace)
		}
	}
	e.facts.Rules.Value, e.facts.Rules.Problem = rules, text(err)
}

func binds(subjects []rbacv1.Subject, account rbacv1.Subject) bool {
	return slices.ContainsFunc(subjects, func(subject rbacv1.Subject) bool {
		return subject.Kind == account.Kind && subject.Namespace == account.Namespace && subject.Name == account.Name
	})
}

// role reads the rules of a Role or ClusterRole. A missing role has no rules.
func (e *examiner) role(ctx context.Context, reference rbacv1.RoleRef, namespace string) ([]rbacv1.PolicyRule, error) {
	if reference.Kind == "Role" {
		role := &rbacv1.Role{}
		err := e.Get(ctx, client.ObjectKey{Namespace: namespace, Name: reference.Name}, role)
		return role.Rules, client.IgnoreNotFound(err)
	}
	role := &rbacv1.ClusterRole{}
	err := e.Get(ctx, client.ObjectKey{Name: reference.Name}, role)
	return role.Rules, client.IgnoreNotFound(err)
}
