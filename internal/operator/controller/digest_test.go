package controller_test

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/controllertest"
)

// TestDigestsOfTwoNamespaces checks that a tenant who creates stacks and Secrets in one namespace cannot use them to
// verify guesses about values in another namespace: there, the same value of the same key has a different digest.
func TestDigestsOfTwoNamespaces(t *testing.T) {
	const spec = `{distribution: {name: starter}, providers: {inference: {provider: vllm, endpoint: "http://vllm:8000", apiKey: {secretKeyRef: {name: creds, key: token}}}}}`
	var inputs, digests [2]string
	for i := range digests {
		env := controllertest.NewEnvironment(t)
		env.StartReconciler(t, "digests")
		env.Create(t, controllertest.NewSecret("creds", "token", "sk-abc"), env.NewStack(t, "my", spec))
		deployment := &appsv1.Deployment{}
		env.WaitForChild(t, "my", deployment)
		inputs[i], digests[i], _ = strings.Cut(deployment.Spec.Template.Annotations[names.AnnotationInputs], ".")
	}
	if inputs[0] != inputs[1] || digests[0] == "" {
		t.Fatalf("inputs %q, digests %q: the stacks must have the same inputs", inputs, digests)
	}
	if digests[0] == digests[1] {
		t.Errorf("both namespaces have the digest %s", digests[0])
	}
}
