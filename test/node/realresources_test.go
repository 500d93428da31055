//go:build node && all

package node

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const resourced = `
distribution: {name: starter, version: "` + realRelease + `"}
providers:
  inference:
  - {id: vllm, provider: vllm, endpoint: "http://vllm:8000", apiKey: {secretKeyRef: {name: vllm-creds, key: token}}}
  - {id: other, provider: vllm, endpoint: "http://other:8000", apiKey: {secretKeyRef: {name: other-creds, key: token}}}
  toolRuntime: {provider: tavily-search, apiKey: {secretKeyRef: {name: search, key: key}}}
resources:
  models: [llama3.2-8b, {name: llama3.2-70b, provider: other, contextLength: 128000}]
  tools: [websearch, rag]
storage: {kv: {type: redis, endpoint: redis:6379, password: {secretKeyRef: {name: redis, key: password}}}}
workload: {resources: ` + realRequests + `}
`

// The test runs user story 3 with the real server. The server registers models when it starts, each with its own
// provider and credentials. In release 0.7 and later, it registers its tools automatically, and lists them only in its
// registry.
func TestRealServerResources(t *testing.T) {
	s := newRealScenario(t, "server@"+realRelease, "databases")
	s.redis()
	s.models("vllm", "sk-real")
	s.models("other", "sk-other", "something-else")
	s.apply(secret("vllm-creds", "token", "sk-real") + secret("other-creds", "token", "sk-other") + secret("search", "key",
		"tvly-abc") +
		stack("my", resourced))
	c := s.client()
	s.ready("my")
	url := s.service("my")
	c.serves("my", url, realRelease)
	c.provider(url, "other", map[string]any{"base_url": "http://other:8000/v1", "api_token": redacted})
	c.lists(url+"/v1/models", "other/llama3.2-70b")
	c.chat(url, "other/llama3.2-70b")
	served := map[string]string{}
	for key := range strings.FieldsSeq(s.inRedis("--scan", "--pattern", "*:tool_group:*")) {
		var tools struct {
			Identifier string `json:"identifier"`
			ProviderID string `json:"provider_id"`
		}
		if err := json.Unmarshal([]byte(s.inRedis("get", key)), &tools); err != nil {
			t.Fatalf("read %q: %v", key, err)
		}
		served[tools.Identifier] = tools.ProviderID
	}
	if diff := cmp.Diff(map[string]string{"builtin::websearch": "tavily-search", "builtin::file_search": "file-search"},
		served); diff != "" {
		t.Errorf("tools and their providers (-want +got):\n%s", diff)
	}
}
