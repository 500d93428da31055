//go:build node

package node

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// realRelease is the release of the real server.
const realRelease = "0.7.3"

// readmeSample is the stack that the README shows first, on the release that there is a real image of.
func readmeSample(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(testutil.Root(), "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), "```yaml\n")
	sample, _, found := strings.Cut(after, "```")
	const name = "{name: starter}"
	if !found || !strings.Contains(sample, name) {
		t.Fatalf("the README's first sample has no %q", name)
	}
	return strings.Replace(sample, name, fmt.Sprintf("{name: starter, version: %q}", realRelease), 1)
}

// The README's sample on the real server, asked over its Service by a pod: its providers, its model, and a completion
// through a model server that demands the Secret's token. It runs alone: a server takes what a small machine has.
func TestRealServer(t *testing.T) {
	if err := publish(t.Context(), "server@"+realRelease); err != nil {
		t.Fatal(err)
	}
	s := newScenario(t)
	s.models("vllm", "sk-real")
	s.apply(secret("vllm-creds", "token", "sk-real") + "---\n" + readmeSample(t))
	c := s.client()
	url := s.service("simple")
	s.ready("simple")
	c.provider(url, "vllm", map[string]any{"base_url": "http://vllm:8000/v1", "api_token": redacted})
	if models := c.listed(url+"/v1/models", "id"); models["vllm/llama3.2-8b"] == nil {
		t.Errorf("no model vllm/llama3.2-8b in %v", models)
	}
	c.chat(url, "vllm/llama3.2-8b")
	s.serverVersion("simple", realRelease)
	if pod := s.onePod("simple"); pod.Status.ContainerStatuses[0].RestartCount > 0 {
		t.Errorf("the server was started %d times again", pod.Status.ContainerStatuses[0].RestartCount)
	}
}
