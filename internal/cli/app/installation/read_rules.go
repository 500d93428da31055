package installation

import (
	"context"

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
	err := e.clusterRules(ctx, account, rules)
	for _, namespace := range watchedNamespaces(operator) {
		if err == nil {
			err = e.namespaceRules(ctx, namespace, account, rules)
		}
	}
	e.facts.Rules.Value, e.facts.Rules.Problem = rules, text(err)
}

func (e *examiner) clusterRules(
	ctx context.Context, account rbacv1.Subject, into map[string][]rbacv1.PolicyRule,
) error {
	bindings := &rbacv1.ClusterRoleBindingList{}
	if err := e.List(ctx, bindings); err != nil {
		return err
	}
	for i := range bindings.Items {
		if !binds(bindings.Items[i].Subjects, account) {
			continue
		}
		found, err := e.role(ctx, bindings.Items[i].RoleRef, "")
		if err != nil {
			return err
		}
		into[""] = append(into[""], found...)
	}
	return nil
}

func (e *examiner) namespaceRules(
	ctx context.Context, namespace string, account rbacv1.Subject, into map[string][]rbacv1.PolicyRule,
) error {
	bindings := &rbacv1.RoleBindingList{}
	if err := e.List(ctx, bindings, client.InNamespace(namespace)); err != nil {
		return err
	}
	into[namespace] = []rbacv1.PolicyRule{}
	for i := range bindings.Items {
		if !binds(bindings.Items[i].Subjects, account) {
			continue
		}
		found, err := e.role(ctx, bindings.Items[i].RoleRef, namespace)
		if err != nil {
			return err
		}
		into[namespace] = append(into[namespace], found...)
	}
	return nil
}

func binds(subjects []rbacv1.Subject, account rbacv1.Subject) bool {
	for _, subject := range subjects {
		if subject.Kind == account.Kind && subject.Namespace == account.Namespace && subject.Name == account.Name {
			return true
		}
	}
	return false
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
