package controller_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
)

// bind binds a role to the account in a namespace.
func (b *bench) bind(t *testing.T, namespace, account, kind, role string) {
	t.Helper()
	binding := &rbacv1.RoleBinding{
		ObjectMeta: objectMeta(namespace, account),
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: kind, Name: role},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: names.OperatorNamespace, Name: account}},
	}
	if err := b.Create(t.Context(), binding); err != nil {
		t.Fatal(err)
	}
}

// TestSomeNamespacesOnly checks that an operator with the permissions that docs/install.md lists for some namespaces
// only works there, and can read its own ConfigMap. TestMain fails if anything was forbidden.
func TestSomeNamespacesOnly(t *testing.T) {
	b := newBench(t)
	b.account = "some-namespaces-only"
	b.bind(t, b.namespace, b.account, "ClusterRole", "llama-stack-k8s-operator-manager-role")
	b.bind(t, names.OperatorNamespace, b.account, "Role", "llama-stack-k8s-operator-leader-election-role")
	b.start(t, "some")
	b.create(t, secret("vllm-creds", "token", "sk-abc"), b.stack(t, "my", fullSpec))
	b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
	made := &corev1.ConfigMap{ObjectMeta: objectMeta(names.OperatorNamespace, names.OperatorConfigMap)}
	eventually(t, func() error { return b.Get(t.Context(), client.ObjectKeyFromObject(made), made) })
}
