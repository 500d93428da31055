package controller_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/controllertest"
)

// TestSecretOfARunningStack checks that the operator reports the deletion of a Secret that a running stack uses, and
// that the pods do not change. The pods also do not change when the same Secret is created again, but they do change
// when its value is different.
func TestSecretOfARunningStack(t *testing.T) {
	env := controllertest.NewEnvironment(t)
	env.Create(t, controllertest.NewSecret("vllm-creds", "token", "sk-abc"))
	env.StartReconciler(t, "secret-gone")
	env.CreateReadyStack(t, controllertest.SecretSpec)
	before := env.GetDeployment(t)
	env.Delete(t, &corev1.Secret{ObjectMeta: controllertest.ObjectMeta(env.Namespace, "vllm-creds")})
	env.WaitForCondition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonSecretNotFound)
	env.WaitForCondition(t, "my", v1alpha2.ConditionDegraded, v1alpha2.ReasonSecretChangedToInvalid)
	env.WaitForCondition(t, "my", v1alpha2.ConditionAvailable, v1alpha2.ReasonMinimumReplicasAvailable)
	env.WaitUntilIdle(t, "secret-gone")
	env.CheckDeploymentUnchanged(t, before)

	env.Create(t, controllertest.NewSecret("vllm-creds", "token", "sk-abc"))
	env.WaitForCondition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonMinimumReplicasAvailable)
	env.WaitUntilIdle(t, "secret-gone")
	env.CheckDeploymentUnchanged(t, before)
	stack := env.GetStack(t)
	if meta.FindStatusCondition(stack.Status.Conditions, v1alpha2.ConditionDegraded) != nil {
		t.Error("the condition Degraded still exists")
	}
}
