//go:build node && all

package node

import (
	"fmt"
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// `kubectl rollout undo` returns to the previous generation. The pod of that generation serves its own model, and does
// not remove entries that the newer generation declared. Clients can use the vector stores of both generations. The
// next change to the spec creates a new generation.
func TestRetentionUndo(t *testing.T) {
	s := newRealScenario(t, "server@"+realRelease, "databases")
	s.postgres()
	c := retainingScenario(s)
	url := s.service("my")
	texts := map[string]string{}
	check := func(what string, lengths map[string]int) {
		t.Helper()
		pod := s.settledAs("my", lengths, c)
		var ids []string
		for id, text := range texts {
			ids = append(ids, id)
			c.finds(url, id, text)
		}
		c.hasStores(url, ids...)
		t.Logf("%s: %v\n%s", what, lengths, s.registryLog(pod, serverContainer))
	}
	add := func(name string) {
		texts[c.store(url, "faiss", name, "The text of the "+name+" store.")] = "The text of the " + name + " store."
	}

	s.apply(stack("my", fmt.Sprintf(retained, model("llama3.2-8b", 32000), onPostgres, 1)))
	s.settled("my", 1)
	add("first")
	check("generation 1", map[string]int{"vllm/llama3.2-8b": 32000})
	s.apply(stack("my", fmt.Sprintf(retained, lengthAndAdded, onPostgres, 1)))
	check("generation 2", newerLengths)
	add("second")

	s.kubectl("rollout", "undo", "deployment/"+names.Deployment("my"))
	degraded := s.condition("my", v1alpha2.ConditionDegraded, v1alpha2.ReasonRolledBack)
	if message := find(degraded, v1alpha2.ConditionDegraded).Message; !strings.Contains(message,
		"was rolled back to revision") {
		t.Errorf("message %q", message)
	}
	check("rolled back", map[string]int{"vllm/llama3.2-8b": 32000, "vllm/added-8b": 16000})
	c.chat(url, "vllm/llama3.2-8b")
	add("third")

	s.apply(stack("my", fmt.Sprintf(retained, model("llama3.2-8b", 128000), onPostgres, 1)))
	check("forward again", map[string]int{"vllm/llama3.2-8b": 128000})
	c.chat(url, "vllm/llama3.2-8b")
}

// settledAs waits until the stack has exactly one pod, which is ready and lists these models. It returns the pod's
// name.
func (s *scenario) settledAs(stack string, lengths map[string]int, c clientPod) string {
	s.t.Helper()
	c.hasModels(s.service(stack), lengths)
	pod := s.allReady(stack, 1)[0]
	c.hasModels(at(&pod), lengths)
	return pod.Name
}
