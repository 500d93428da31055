//go:build node && all

package node

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// embedding is the embedding model of a stack. dimension is the length of the vectors that the tests' model server
// returns.
const (
	embedding = "vllm/embed"
	dimension = 8
)

// retained is the spec of a stack whose replicas share the stores for their state. The placeholders are the models in
// YAML, the stores, and the number of replicas.
const retained = `
distribution: {name: starter, version: "` + realRelease + `"}
providers:
  inference: {provider: vllm, endpoint: "http://vllm:8000", apiKey: {secretKeyRef: {name: vllm-creds, key: token}}}
resources: {models: [{name: embed, modelType: embedding, metadata: {embedding_dimension: 8}}, %[1]s]}
storage: {%[2]s}
workload: {resources: ` + realRequests + `, replicas: %[3]d}
`

const (
	onPostgres = "kv: {type: postgres, connectionString: {secretKeyRef: {name: pg, key: url}}}, " +
		"sql: {type: postgres, connectionString: {secretKeyRef: {name: pg, key: url}}}"
	onRedis = "kv: {type: redis, endpoint: %s, password: {secretKeyRef: {name: redis, key: password}}}"
)

// model returns a model with a context length, in YAML.
func model(name string, contextLength int) string {
	return fmt.Sprintf("{name: %s, contextLength: %d}", name, contextLength)
}

// retainingScenario starts a model server, which lists only the embedding model, and returns a client in the scenario.
func retainingScenario(s *scenario) clientPod {
	s.t.Helper()
	s.models("vllm", "sk-real", "embed")
	s.apply(secret("vllm-creds", "token", "sk-real"))
	return s.client()
}

// at returns the URL of the server in a pod.
func at(pod *corev1.Pod) string { return fmt.Sprintf("http://%s:8321", pod.Status.PodIP) }

// createStore creates a vector store and returns its ID. It does not repeat a failed request.
func (c clientPod) createStore(url, provider, name string) (id string, err error) {
	body := fmt.Sprintf(`{"name": %q, "provider_id": %q, "embedding_model": %q, "embedding_dimension": %d}`, name, provider, embedding, dimension)
	text, err := c.call("post", "-timeout=30s", url+"/v1/vector_stores", body)
	if err != nil {
		return "", err
	}
	var made struct {
		ID string `json:"id"`
	}
	if err := decode(url, text, &made); err != nil {
		return "", err
	}
	if made.ID == "" {
		return "", fmt.Errorf("the server returned a vector store without an ID: %s", text)
	}
	return made.ID, nil
}

// store creates a vector store, adds a text to it, and returns the ID of the vector store. It retries, because some of
// the first requests fail: the server uses closed connections to the database.
func (c clientPod) store(url, provider, name, text string) (id string) {
	c.t.Helper()
	c.eventually(func() (err error) { id, err = c.createStore(url, provider, name); return err })
	c.insert(url, id, name, text)
	return id
}

// insert waits until the server has added a text to a vector store.
func (c clientPod) insert(url, id, name, text string) {
	c.t.Helper()
	chunk := map[string]any{
		"content": text, "chunk_id": name, "chunk_metadata": map[string]any{"document_id": name},
		"metadata":  map[string]any{"document_id": name},
		"embedding": slices.Repeat([]float64{1}, dimension), "embedding_model": embedding, "embedding_dimension": dimension,
	}
	body, err := json.Marshal(map[string]any{"vector_store_id": id, "chunks": []any{chunk}})
	if err != nil {
		c.t.Fatal(err)
	}
	c.eventually(func() error {
		answer, err := c.call("post", "-timeout=30s", url+"/v1/vector-io/insert", string(body))
		if err == nil && !strings.HasPrefix(answer, "204\n") {
			err = fmt.Errorf("add a text to %q: %s", id, answer)
		}
		return err
	})
}

// finds waits until a search in a vector store returns the text that was added to it.
func (c clientPod) finds(url, id, text string) {
	c.t.Helper()
	c.eventually(func() error {
		answer, err := c.call("post", "-timeout=30s", url+"/v1/vector_stores/"+id+"/search", `{"query": "anything"}`)
		if err == nil && (!strings.HasPrefix(answer, "200\n") || !strings.Contains(answer, text)) {
			err = fmt.Errorf("the result of a search in %q is %s, want %q in it", id, answer, text)
		}
		return err
	})
}

// stores returns the IDs of the vector stores that a server lists in one response.
func (c clientPod) stores(url string) ([]string, error) {
	var answer struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
		More bool `json:"has_more"`
	}
	if err := c.try(url+"/v1/vector_stores?limit=100", &answer); err != nil {
		return nil, err
	}
	if answer.More {
		return nil, errors.New("more than 100 vector stores")
	}
	var ids []string
	for _, entry := range answer.Data {
		ids = append(ids, entry.ID)
	}
	return ids, nil
}

// hasStores waits until a server lists exactly these vector stores.
func (c clientPod) hasStores(url string, want ...string) {
	c.t.Helper()
	c.eventually(func() error {
		got, err := c.stores(url)
		if err == nil && !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))) {
			err = fmt.Errorf("%s has the vector stores %q, want %q", url, got, want)
		}
		return err
	})
}

// lengths returns the context lengths of the models that a server lists, except the embedding model. The length is zero
// for a model without a context length.
func (c clientPod) lengths(url string) (map[string]int, error) {
	var answer struct {
		Data []struct {
			ID       string `json:"id"`
			Metadata struct {
				Length int `json:"context_length"`
			} `json:"custom_metadata"`
		} `json:"data"`
	}
	if err := c.try(url+"/v1/models", &answer); err != nil {
		return nil, err
	}
	found := map[string]int{}
	for _, entry := range answer.Data {
		if entry.ID != embedding {
			found[entry.ID] = entry.Metadata.Length
		}
	}
	return found, nil
}

// hasModels waits until a server lists exactly these models, with these context lengths, in addition to the embedding
// model.
func (c clientPod) hasModels(url string, want map[string]int) {
	c.t.Helper()
	c.eventually(func() error {
		got, err := c.lengths(url)
		if err == nil && !maps.Equal(got, want) {
			err = fmt.Errorf("%s has the models %v, want %v", url, got, want)
		}
		return err
	})
}

// restart stops the server in a pod's container, and waits until the same pod is ready again with a new container.
func (s *scenario) restart(pod *corev1.Pod) {
	s.t.Helper()
	s.kubectl("exec", pod.Name, "-c", serverContainer, "--", "/bin/sh", "-c", "kill 1")
	s.eventually(func() error {
		now := &corev1.Pod{}
		if err := s.get(pod.Name, now); err != nil {
			return err
		}
		if now.Status.ContainerStatuses[0].RestartCount <= pod.Status.ContainerStatuses[0].RestartCount || !isReady(now) {
			return fmt.Errorf("pod %s: %d restarts, ready %t", now.Name, now.Status.ContainerStatuses[0].RestartCount,
				isReady(now))
		}
		return nil
	})
}

// serverContainer is the name of the server's container.
const serverContainer = "llama-stack"

// livePods returns a stack's pods, except those that are being deleted, oldest first.
func (s *scenario) livePods(stack string) ([]corev1.Pod, error) {
	pods, err := s.pods(stack)
	pods = slices.DeleteFunc(pods, func(pod corev1.Pod) bool { return pod.DeletionTimestamp != nil })
	slices.SortFunc(pods, func(a, b corev1.Pod) int { return a.CreationTimestamp.Compare(b.CreationTimestamp.Time) })
	return pods, err
}

// settled waits until the stack is ready with exactly this number of pods, and returns them.
func (s *scenario) settled(stack string, count int) (pods []corev1.Pod) {
	s.t.Helper()
	s.ready(stack)
	return s.allReady(stack, count)
}

// registryLog returns the output of the program that updates the registry, from the last start of a container.
func (s *scenario) registryLog(pod, container string) string {
	s.t.Helper()
	var said []string
	for line := range strings.Lines(s.kubectl("logs", pod, "-c", container)) {
		if strings.HasPrefix(line, "registry: ") {
			said = append(said, strings.TrimSpace(line))
		}
	}
	return strings.Join(said, "\n")
}
