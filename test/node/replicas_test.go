//go:build node && all

package node

import "testing"

// sharedState is a stack whose replicas store all client data in PostgreSQL, including the vectors and the list of
// vector stores. Releases before 1.2 hold the list of vector stores in memory.
const sharedState = `
distribution: {name: starter, version: "` + newestRelease + `"}
disabled: [files, vectorIo/faiss, vectorIo/sqlite-vec]
providers:
  inference: {provider: vllm, endpoint: "http://vllm:8000", apiKey: {secretKeyRef: {name: vllm-creds, key: token}}}
  vectorIo: {provider: pgvector, endpoint: postgres,
    apiKey: {secretKeyRef: {name: postgres, key: password}}, settings: {db: state, user: llama}}
resources: {models: [{name: embed, modelType: embedding, metadata: {embedding_dimension: 8}}, llama3.2-8b]}
storage: {` + onPostgres + `}
settings: {storage: {stores: {vector_stores: {table_name: vector_stores}}}}
workload: {resources: ` + realRequests + `, replicas: 2}
`

// Two replicas with PostgreSQL share client data. The test creates a conversation and a vector store in one pod, reads
// them from the other pod, and searches for a text through the other pod.
func TestReplicasShareState(t *testing.T) {
	s := newRealScenario(t, "server@"+newestRelease, "databases")
	s.postgres()
	c := retainingScenario(s)
	s.apply(secret("postgres", "password", postgresPassword) + stack("my", sharedState))
	pods := s.settled("my", 2)
	first, second := at(&pods[0]), at(&pods[1])

	conversation, _ := c.post(first+"/v1/conversations",
		`{"items": [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "remember the bees"}]}]}`)["id"].(string)
	if conversation == "" {
		t.Fatal("a conversation without an ID")
	}
	var items struct {
		Data []struct {
			Content []struct {
				Text string `json:"text"`
			} `json:"content"`
		} `json:"data"`
	}
	c.ask(second+"/v1/conversations/"+conversation+"/items", &items)
	if len(items.Data) != 1 || len(items.Data[0].Content) != 1 || items.Data[0].Content[0].Text != "remember the bees" {
		t.Errorf("the other pod has the items %+v", items.Data)
	}

	const text = "The text of the shared store."
	store := c.store(first, "pgvector", "shared", text)
	var found struct {
		ID string `json:"id"`
	}
	c.ask(second+"/v1/vector_stores/"+store, &found)
	if found.ID != store {
		t.Errorf("the other pod has the vector store %q, want %q", found.ID, store)
	}
	c.finds(second, store, text)
}
