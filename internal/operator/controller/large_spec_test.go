package controller_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/validate"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/controllertest"
)

// TestSpecBecomesTooLarge checks that the Deployment of a running stack does not change when the spec of the stack
// becomes too large. The status reports the reason, and the stack continues when its spec becomes smaller.
func TestSpecBecomesTooLarge(t *testing.T) {
	env := controllertest.NewEnvironment(t)
	env.StartReconciler(t, "large")
	env.Create(t, env.NewStack(t, "my", `{distribution: {name: starter}, networking: {expose: {hostname: large.example.com}}, workload: {replicas: 2}}`))
	env.WaitForCondition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
	before := env.GetDeployment(t)

	env.UpdateStack(t, "my", func(stack *v1alpha2.LlamaStackDistribution) {
		text, err := json.Marshal(map[string]any{"server": map[string]any{"cors": strings.Repeat("x",
			validate.MaxSpecBytes)}})
		if err != nil {
			t.Fatal(err)
		}
		stack.Spec.Settings = &apiextensionsv1.JSON{Raw: text}
	})
	got := env.WaitForCondition(t, "my", v1alpha2.ConditionValidationSucceeded, v1alpha2.ReasonInvalidSpec)
	if want := "bytes of JSON exceed the limit of 262144 for a spec: move long parts to a ConfigMap"; !strings.Contains(got.Message, want) {
		t.Errorf("message %q, want %q in it", got.Message, want)
	}
	after := env.GetDeployment(t)
	if diff := cmp.Diff(before.Spec, after.Spec); diff != "" {
		t.Errorf("the Deployment changed (-before +after):\n%s", diff)
	}
	stored := env.GetStack(t)
	if stored.Spec.Settings == nil || stored.Spec.Workload == nil || len(stored.Annotations) != 0 {
		t.Errorf("the stored object lacks a part of its spec, or has annotations %v", stored.Annotations)
	}

	env.UpdateStack(t, "my", func(stack *v1alpha2.LlamaStackDistribution) { stack.Spec.Settings = nil })
	env.WaitForCondition(t, "my", v1alpha2.ConditionValidationSucceeded, v1alpha2.ReasonSpecValid)
}

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
