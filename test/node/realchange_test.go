//go:build node && all

package node

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/release"
)

const declared = `
distribution: {name: starter, version: %q}
providers:
  inference: {provider: vllm, endpoint: "http://vllm:8000", apiKey: {secretKeyRef: {name: vllm-creds, key: token}}}
resources: {models: [%s]}
workload: {resources: ` + realRequests + `%s}
`

// A model that the server found by itself, and kept, is declared later, together with a changed declaration of another.
// The next pod starts on the same volume, after a preflight. A registry that kept the found model would stop it.
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
		t.Error("the same pod")
	}
	c.serves("my", url, realRelease)
	for id, length := range map[string]float64{"vllm/llama3.2-8b": 64000, "vllm/found-8b": 32000} {
		model := c.listed(url+"/v1/models", "id")[id]
		if metadata, _ := model["custom_metadata"].(map[string]any); metadata["context_length"] != length {
			t.Errorf("model %q is %v, want a context length of %v", id, model, length)
		}
	}
	c.chat(url, "vllm/found-8b")
}

// An upgrade moves the stack to the next line of releases. The old pod serves until the new one does. The new pod
// reports the new release, and so does the status.
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
		t.Errorf("configured for release %q, want the line of %s (%v)", got, nextRelease, err)
	}
}

// replaced waits until a pod is gone or about to end, and fails if this happens before another one has started.
func (s *scenario) replaced(stack string, old *corev1.Pod) {
	s.t.Helper()
	s.eventually(func() error {
		pods, err := s.pods(stack)
		if err != nil {
			return err
		}
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
			return fmt.Errorf("pod %q is still there", old.Name)
		case !started:
			s.t.Fatalf("pod %q was ended before another had started", old.Name)
		}
		return nil
	})
}
