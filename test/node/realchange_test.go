//go:build node && all

package node

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

const declared = `
distribution: {name: starter, version: %q}
providers:
  inference: {provider: vllm, endpoint: "http://vllm:8000", apiKey: {secretKeyRef: {name: vllm-creds, key: token}}}
resources: {models: [%s]}
workload: {resources: ` + realRequests + `%s}
`

// The server lists and stores a model that its provider offers. Later, the spec declares this model and changes the
// declaration of another model. The next pod starts on the same volume, after a preflight. If the registry still
// contained the stored model, the pod would not start.
func TestRealServerDeclaration(t *testing.T) {
	const volume = ", storage: {size: 1Gi}"
	s := newRealScenario(t, "server@"+realRelease)
	s.models("vllm", "sk-real", "llama3.2-8b", "found-8b")
	s.apply(secret("vllm-creds", "token", "sk-real") + stack("my",
		fmt.Sprintf(declared, realRelease, "llama3.2-8b", volume)))
	c := s.client()
	s.ready("my")
	url := s.service("my")
	c.serves("my", url, realRelease)
	c.lists(url+"/v1/models", "vllm/found-8b")
	before := s.onePod("my")

	s.apply(stack("my", fmt.Sprintf(declared, realRelease,
		"{name: llama3.2-8b, contextLength: 64000}, {name: found-8b, contextLength: 32000}", volume)))
	s.condition("my", v1alpha2.ConditionDeploymentUpdated, v1alpha2.ReasonPreflightInProgress)
	s.ready("my")
	if after := s.onePod("my"); after.UID == before.UID {
		t.Error("the pod was not replaced")
	}
	c.serves("my", url, realRelease)
	for id, length := range map[string]float64{"vllm/llama3.2-8b": 64000, "vllm/found-8b": 32000} {
		model := c.listed(url+"/v1/models", "id")[id]
		if metadata, _ := model["custom_metadata"].(map[string]any); metadata["context_length"] != length {
			t.Errorf("the model %q is %v, want a context length of %v", id, model, length)
		}
	}
	c.chat(url, "vllm/found-8b")
}

// An upgrade changes the stack to the next release line. The old pod is not deleted before a new pod has started. The
// new pod and the status report the new release.
func TestRealServerUpgrade(t *testing.T) {
	s := newRealScenario(t, "server@"+realRelease, "server@"+nextRelease)
	s.models("vllm", "sk-real")
	s.apply(secret("vllm-creds", "token", "sk-real") + stack("my", fmt.Sprintf(declared, realRelease, "llama3.2-8b", "")))
	c := s.client()
	s.ready("my")
	url := s.service("my")
	c.serves("my", url, realRelease)
	before := s.onePod("my")

	s.apply(stack("my", fmt.Sprintf(declared, nextRelease, "llama3.2-8b", "")))
	s.replaced("my", before)
	s.ready("my")
	c.serves("my", url, nextRelease)
	got := s.serverVersion("my", nextRelease).Status.ResolvedDistribution.ServerRelease
	if match, err := release.Lookup(nextRelease); err != nil || got != match.Release.Line {
		t.Errorf("the stack is configured for release %q, want the line of %s (%v)", got, nextRelease, err)
	}
}

// replaced waits until a pod is deleted or is being deleted. It fails the test if this happens before another pod has
// started.
func (s *scenario) replaced(stack string, old *corev1.Pod) {
	s.t.Helper()
	s.untilPods(stack, func(pods []corev1.Pod) error {
		stays, started := false, false
		for i := range pods {
			if pods[i].UID == old.UID {
				stays = pods[i].DeletionTimestamp == nil
				continue
			}
			for _, container := range pods[i].Status.ContainerStatuses {
				started = started || container.Started != nil && *container.Started
			}
		}
		switch {
		case stays:
			return fmt.Errorf("pod %q still exists", old.Name)
		case !started:
			s.t.Fatalf("pod %q ended before another pod had started", old.Name)
		}
		return nil
	})
}
