package controller_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/controllertest"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// bindRole binds a role to the account in a namespace.
func bindRole(t *testing.T, env *controllertest.Environment, namespace, account, kind, role string) {
	t.Helper()
	binding := &rbacv1.RoleBinding{
		ObjectMeta: controllertest.ObjectMeta(namespace, account),
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: kind, Name: role},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: names.OperatorNamespace, Name: account}},
	}
	testutil.Must(t, env.Client.Create(t.Context(), binding))
}

// TestRunningSomeNamespacesOnly checks that an operator with the permissions that
// docs/how-to/install-some-namespaces.md lists for some namespaces works in these namespaces and creates its own
// ConfigMap. TestMain fails if the API server denied a request, for example a request for another namespace.
func TestRunningSomeNamespacesOnly(t *testing.T) {
	env := controllertest.NewEnvironment(t)
	env.ServiceAccount = "some-namespaces-only"
	bindRole(t, env, env.Namespace, env.ServiceAccount, "ClusterRole", "llama-stack-k8s-operator-manager-role")
	bindRole(t, env, names.OperatorNamespace, env.ServiceAccount, "Role", "llama-stack-k8s-operator-leader-election-role")
	env.StartOperator(t, "some")
	env.Create(t, controllertest.NewSecret("vllm-creds", "token", "sk-abc"),
		env.NewStack(t, "my", controllertest.SecretSpec))
	env.WaitForCondition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
	made := &corev1.ConfigMap{ObjectMeta: controllertest.ObjectMeta(names.OperatorNamespace, names.OperatorConfigMap)}
	controllertest.WaitUntil(t,
		func() error { return env.Client.Get(t.Context(), client.ObjectKeyFromObject(made), made) })
}
