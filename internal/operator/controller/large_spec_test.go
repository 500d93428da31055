package controller_test

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/controllertest"
)

// TestRunningWithALongSpec checks that the operator applies the whole spec of a stack of which its cache holds only an
// outline.
func TestRunningWithALongSpec(t *testing.T) {
	t.Parallel()
	env := controllertest.NewEnvironment(t)
	env.StartOperator(t, "long-spec")
	long := strings.Repeat("x", 20<<10)
	env.Create(t, env.NewStack(t, "my", `{distribution: {name: starter}, workload: {overrides: {env: [{name: LONG, value: `+long+`}]}}}`))
	deployment := &appsv1.Deployment{}
	env.WaitForChild(t, "my", deployment)
	for _, variable := range deployment.Spec.Template.Spec.Containers[0].Env {
		if variable.Name == "LONG" && variable.Value == long {
			return
		}
	}
	t.Errorf("the Deployment lacks a part of the spec: %d variables", len(deployment.Spec.Template.Spec.Containers[0].Env))
}
