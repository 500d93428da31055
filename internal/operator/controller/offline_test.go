package controller_test

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/controllertest"
)

// TestOffline checks that a spec whose server cannot start without the internet does not change the running pods, and
// that a spec whose server needs the internet only after it has started causes an event.
func TestOffline(t *testing.T) {
	env := controllertest.NewEnvironment(t)
	env.StartReconciler(t, "offline")
	env.Create(t, env.NewStack(t, "my", `{distribution: {name: starter}, providers: {inference: {provider: vllm, endpoint: "http://vllm:8000"}}}`))
	env.WaitForCondition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
	deployment := env.GetDeployment(t)
	before := deployment.Generation

	env.UpdateSpec(t, "my", `{distribution: {name: starter}, offline: true, providers: {files: {provider: s3, settings: {bucket_name: a}}}}`)
	condition := env.WaitForCondition(t, "my", v1alpha2.ConditionConfigGenerated, v1alpha2.ReasonConfigGenerationFailed)
	if !strings.Contains(condition.Message, "spec.providers.files.endpoint: remote::s3 calls s3.amazonaws.com when the server starts") {
		t.Errorf("message %q", condition.Message)
	}
	if env.Get(t, "my", deployment); deployment.Generation != before {
		t.Errorf("the Deployment has generation %d, want the earlier generation %d", deployment.Generation, before)
	}

	env.UpdateSpec(t, "my", `{distribution: {name: starter}, offline: true, modelFiles: {persistentVolumeClaim: {claimName: models}, huggingFaceCache: hub}, providers: {inference: {provider: groq}}}`)
	env.WaitForCondition(t, "my", v1alpha2.ConditionConfigGenerated, v1alpha2.ReasonConfigGenerationSucceeded)
	controllertest.WaitUntil(t, func() error {
		env.Get(t, "my", deployment)
		return hasVariable(deployment.Spec.Template.Spec.Containers[0], "HF_HUB_OFFLINE", "1")
	})
	note := env.WaitForEvent(t, corev1.EventTypeWarning, v1alpha2.EventConfigWarning)
	stack := env.GetStack(t)
	told := stack.Status.Warnings
	if !strings.Contains(strings.Join(told, "\n"), "api.groq.com") ||
		note != fmt.Sprintf("%d warnings, which are in status.warnings; the first is: %s", len(told), told[0]) {
		t.Errorf("event %q and warnings %q", note, told)
	}
}

// hasVariable returns an error if a container does not have a variable with this name and value.
func hasVariable(container corev1.Container, name, value string) error {
	for _, variable := range container.Env {
		if variable.Name == name && variable.Value == value {
			return nil
		}
	}
	return fmt.Errorf("the container has no variable %s=%s", name, value)
}
