package controller_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/operatorconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/controllertest"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// TestRunningNumberOfStacks checks that a stack beyond the maximum number of stacks is deployed when an older stack is
// deleted.
func TestRunningNumberOfStacks(t *testing.T) {
	t.Parallel()
	env := controllertest.NewEnvironment(t)
	env.OwnOperatorConfig = true
	env.StartOperator(t, "stacks")
	env.SetOperatorConfig(t, operatorconfig.KeyBounds, "[{namespaces: ["+env.Namespace+"], stacks: 1}]")
	env.Create(t, env.NewStack(t, "a-first", `{distribution: {name: starter}}`))
	env.WaitForCondition(t, "a-first", v1alpha2.ConditionDeploymentUpdated, v1alpha2.ReasonDeploymentUpdateSucceeded)
	env.Create(t, env.NewStack(t, "b-second", `{distribution: {name: starter}}`))
	env.WaitForCondition(t, "b-second", v1alpha2.ConditionValidationSucceeded, v1alpha2.ReasonForbiddenByBounds)
	if err := env.Client.Get(t.Context(), env.Key("b-second"), &appsv1.Deployment{}); !apierrors.IsNotFound(err) {
		t.Errorf("the stack beyond the bound has a Deployment: %v", err)
	}
	first := &v1alpha2.LlamaStackDistribution{}
	env.Get(t, "a-first", first)
	testutil.Must(t, client.IgnoreNotFound(env.Client.Delete(t.Context(), first)))
	env.WaitForCondition(t, "b-second", v1alpha2.ConditionDeploymentUpdated, v1alpha2.ReasonDeploymentUpdateSucceeded)
}
