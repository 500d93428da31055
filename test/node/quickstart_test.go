//go:build node

package node

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// quickstart is the published v1alpha1 quickstart with three changes: a different API group, resources for a small
// node, and a port. A v1alpha1 stack without a port has no Service (docs/reference/v1alpha1-fields.md).
const quickstart = `
apiVersion: llamastack.io/v1alpha1
kind: LlamaStackDistribution
metadata:
  name: my-stack
spec:
  server:
    containerSpec: {port: 8321, resources: ` + small + `}
    distribution:
      name: starter
    providers:
      inference:
        provider: vllm
        endpoint: "http://vllm:8000"
        apiKey:
          secretKeyRef:
            name: vllm-creds
            key: token
    resources:
      models:
        - "llama3.2-8b"
`

// The test runs the v1alpha1 quickstart with real pods. No pod starts without the Secret. With the Secret, the server
// uses the ConfigMap whose name is in the status, and sends the token to the model server. With a different model, the
// stack has a different ConfigMap and new pods.
func TestQuickstart(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.kubectl("label", "namespace", s.namespace, "pod-security.kubernetes.io/enforce=baseline", "--overwrite")
	s.apply(quickstart)
	s.condition("my-stack", v1alpha2.ConditionSecretsResolved, v1alpha2.ReasonSecretNotFound)
	if got := s.shown("my-stack", "{.status.conditions[?(@.type=='ConfigReady')].status} {.status.generatedConfigMap}"); got != "Unknown " {
		t.Errorf("without the Secret, ConfigReady and generatedConfigMap are %q", got)
	}
	if pods, err := s.pods("my-stack"); err != nil || len(pods) > 0 {
		t.Errorf("there are %d pods without the Secret, want none (%v)", len(pods), err)
	}

	s.models("vllm", "sk-quick", "llama3.2-8b", "llama3.2-70b")
	s.kubectl("create", "secret", "generic", "vllm-creds", "--from-literal=token=sk-quick")
	for _, condition := range []string{"ConfigReady", "DeploymentReady", "HealthCheck", "ServiceReady"} {
		s.kubectl("wait", "--for=condition="+condition, fmt.Sprintf("--timeout=%.0fs", s.patience.Seconds()),
			inV1alpha1+"/my-stack")
	}
	first := s.runsGenerated("my-stack", "")
	c, url := s.client(), s.service("my-stack")
	c.provider(url, "vllm", map[string]any{"base_url": "http://vllm:8000/v1", "api_token": redacted})
	c.chat(url, "vllm/llama3.2-8b")

	s.kubectl("patch", inV1alpha1, "my-stack", "--type=merge", `--patch={"spec":{"server":{"resources":{"models":["llama3.2-70b"]}}}}`)
	s.runsGenerated("my-stack", first)
	c.chat(url, "vllm/llama3.2-70b")
}

// shown returns the value that kubectl prints for a JSONPath expression when it reads a stack as v1alpha1.
func (s *scenario) shown(stack, jsonpath string) string {
	s.t.Helper()
	return s.kubectl("get", inV1alpha1, stack, "--output=jsonpath="+jsonpath)
}

// generatedName matches the name of a ConfigMap with the configuration of the quickstart's stack.
var generatedName = regexp.MustCompile(`^my-stack-config-[0-9a-f]{8}$`)

// runsGenerated waits until a stack has only one pod, the pod is ready, and it mounts a new ConfigMap whose name is in
// the v1alpha1 status. It returns the name of the ConfigMap.
func (s *scenario) runsGenerated(stack, before string) string {
	s.t.Helper()
	var generated string
	s.untilPods(stack, func(pods []corev1.Pod) error {
		generated = s.shown(stack, "{.status.generatedConfigMap}")
		if generated == before || !generatedName.MatchString(generated) {
			return fmt.Errorf("generatedConfigMap is %q, and was %q", generated, before)
		}
		if len(pods) != 1 || !isReady(&pods[0]) {
			return fmt.Errorf("there are %d pods, want one ready pod", len(pods))
		}
		if !slices.ContainsFunc(pods[0].Spec.Volumes, func(volume corev1.Volume) bool {
			return volume.ConfigMap != nil && volume.ConfigMap.Name == generated
		}) {
			return fmt.Errorf("the pod does not mount ConfigMap %q", generated)
		}
		return nil
	})
	configMap := &corev1.ConfigMap{}
	if err := s.get(generated, configMap); err != nil {
		s.t.Fatal(err)
	}
	if owner := configMap.OwnerReferences; len(owner) != 1 || owner[0].Kind != v1alpha2.Kind || owner[0].Name != stack {
		s.t.Errorf("ConfigMap %q is owned by %v", generated, owner)
	}
	if strings.Contains(configMap.Data[names.ConfigFile], "sk-quick") {
		s.t.Error("the configuration contains the token")
	}
	return generated
}
