//go:build node && all

package node

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

// The passwords contain characters that must be encoded in a URL. If they are not encoded, the server cannot connect.
const (
	postgresPassword = "pg/with:odd@signs#and?%41+[x]"
	redisPassword    = "redis/with:odd@signs#and?%41+[x]"
)

const stored = `
distribution: {name: starter, version: "` + realRelease + `"}
providers:
  inference: {provider: vllm, endpoint: "http://vllm:8000", apiKey: {secretKeyRef: {name: vllm-creds, key: token}}}
resources: {models: [llama3.2-8b]}
storage:
  kv: {type: redis, endpoint: redis:6379, password: {secretKeyRef: {name: redis, key: password}}}
  sql: {type: postgres, connectionString: {secretKeyRef: {name: pg, key: url}}}
workload: {resources: ` + realRequests + `}
`

func databases() string { return registry + "/databases:test" }

// postgres starts PostgreSQL at postgres:5432, and creates the Secret pg with its connection string.
func (s *scenario) postgres() {
	s.t.Helper()
	s.apply(fmt.Sprintf(programService, "postgres", 5432))
	s.program("postgres", databases(), "run-postgres",
		fmt.Sprintf("{name: PGHOST, value: localhost}, {name: PGUSER, value: llama}, {name: PGDATABASE, value: state}, {name: PGPASSWORD, value: %q}", postgresPassword),
		"{exec: {command: [pg_isready]}, periodSeconds: 1, timeoutSeconds: 10}")
	connection := &url.URL{
		Scheme: "postgresql", User: url.UserPassword("llama", postgresPassword), Host: "postgres:5432",
		Path: "state",
	}
	s.apply(secret("pg", "url", connection.String()))
}

// redis starts Redis at redis:6379, and creates the Secret redis with its password.
func (s *scenario) redis() {
	s.t.Helper()
	s.apply(fmt.Sprintf(programService, "redis", 6379))
	s.program("redis", databases(), "run-redis", fmt.Sprintf("{name: REDISCLI_AUTH, value: %q}", redisPassword), "{tcpSocket: {port: 6379}, periodSeconds: 1}")
	s.apply(secret("redis", "password", redisPassword))
}

// inRedis runs a redis-cli command in the Redis pod.
func (s *scenario) inRedis(command ...string) string {
	s.t.Helper()
	return s.kubectl(append([]string{"exec", "redis", "--", "redis-cli"}, command...)...)
}

// completions waits until PostgreSQL contains at least this number of completions, and returns their IDs. The server
// writes completions in the background.
func (s *scenario) completions(least int) (ids []string) {
	s.t.Helper()
	s.eventually(func() error {
		said, err := kubectl(s.t.Context(), nil, "exec", "--namespace="+s.namespace, "postgres", "--",
			"psql", "-tAc", "SELECT id FROM inference_store ORDER BY id")
		if ids = strings.Fields(said); err == nil && len(ids) < least {
			err = fmt.Errorf("completions %q in PostgreSQL, want %d", ids, least)
		}
		return err
	})
	return ids
}

// The test runs user story 4 with the real server. The server's data is in PostgreSQL and Redis, and the next pod reads
// it from there.
func TestRealServerStorage(t *testing.T) {
	s := newRealScenario(t, "server@"+realRelease, "databases")
	s.models("vllm", "sk-real")
	s.postgres()
	s.redis()
	s.apply(secret("vllm-creds", "token", "sk-real") + stack("my", stored))
	c := s.client()
	s.ready("my")
	server := s.service("my")
	c.serves("my", server, realRelease)
	ids := s.completions(1)
	prompt := fmt.Sprint(c.post(server+"/v1/prompts", `{"prompt": "Say hello."}`)["prompt_id"])
	keys := s.inRedis("--scan")
	for _, want := range []string{"vllm/llama3.2-8b", prompt} {
		if !strings.Contains(keys, want) {
			t.Errorf("there is no key with %q in Redis:\n%s", want, keys)
		}
	}

	before := s.onePod("my")
	s.kubectl("delete", "pod", before.Name)
	s.allReady("my", 1, string(before.UID))
	var completion, found map[string]any
	c.ask(server+"/v1/chat/completions/"+ids[0], &completion)
	if completion["id"] != ids[0] {
		t.Errorf("the new pod has %v for completion %q", completion, ids[0])
	}
	c.ask(server+"/v1/prompts/"+prompt, &found) // this release cannot list prompts that are in Redis
	if found["prompt"] != "Say hello." {
		t.Errorf("the new pod has %v for prompt %q", found, prompt)
	}
	c.serves("my", server, realRelease)
	now := s.completions(len(ids) + 1)
	for _, id := range ids {
		if !slices.Contains(now, id) {
			t.Errorf("PostgreSQL contains the completions %q, want also %q, which the first pod stored", now, id)
		}
	}
}

// atRootHome is a stack that was created as v1alpha1, whose volume is the data directory in the home directory.
const atRootHome = `
---
apiVersion: llamastack.io/v1alpha2
kind: LlamaStackDistribution
metadata: {name: my, annotations: {llamastack.io/compat: v1alpha1}}
spec:
  distribution: {name: starter, version: %q}
  networking: {port: 8321}
  workload:
    resources: ` + realRequests + `
    storage: {size: 1Gi, mountPath: /root/.llama}
    overrides: {env: [{name: HOME, value: /root}]}
`

// A newer server moves the data directory at its start, which empties a volume that is mounted there, unless the pod
// prevents it (server fact 77). The upgrade waits, because the newer server cannot see the vector stores of the older
// one. After the loss is accepted, the server finds a conversation of the older release, also in another pod.
func TestRealServerKeepsTheVolume(t *testing.T) {
	s := newRealScenario(t, "server@"+realRelease, "server@"+newestRelease)
	// The pods of v1alpha1 stacks have the user of the image.
	s.kubectl("label", "namespace", s.namespace, "pod-security.kubernetes.io/enforce=baseline", "--overwrite")
	s.apply(fmt.Sprintf(atRootHome, realRelease))
	c := s.client()
	s.ready("my")
	path := s.service("my") + "/v1/conversations"
	id, _ := c.post(path, `{"metadata": {"of": "a client"}}`)["id"].(string)
	if id == "" {
		t.Fatal("the conversation has no ID")
	}
	before := s.onePod("my")
	s.apply(fmt.Sprintf(atRootHome, newestRelease))
	s.condition("my", v1alpha2.ConditionDeploymentUpdated, v1alpha2.ReasonDataLossNotAccepted)
	if pod := s.onePod("my"); pod.UID != before.UID {
		t.Errorf("pod %s replaced pod %s while the change waits", pod.Name, before.Name)
	}
	s.kubectl("annotate", "llsd", "my", "llamastack.io/accept-data-loss=registry, vector_io/faiss, vector_io/sqlite-vec")
	s.serverVersion("my", newestRelease)
	for range 2 {
		s.ready("my")
		c.eventually(func() error {
			var found map[string]any
			return c.try(path+"/"+id, &found)
		})
		s.kubectl("delete", "pod", s.onePod("my").Name)
	}
	s.ready("my")
}
