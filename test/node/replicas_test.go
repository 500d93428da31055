//go:build node && all

package node

import (
	"fmt"
	"testing"
)

// Two replicas on PostgreSQL share what clients store: a conversation and a vector store that one pod made are read from
// the other one. A server of this release looks a vector store up by its id in the registry, and lists those that it found
// when it started.
func TestReplicasShareState(t *testing.T) {
	s := newRealScenario(t, "server@"+realRelease, "databases")
	s.postgres()
	c := retainingScenario(s)
	s.apply(stack("my", fmt.Sprintf(retained, model("llama3.2-8b", 32000), onPostgres, 2)))
	pods := s.settled("my", 2)
	first, second := at(&pods[0]), at(&pods[1])

	conversation, _ := c.post(first+"/v1/conversations",
		`{"items": [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "remember the bees"}]}]}`)["id"].(string)
	if conversation == "" {
		t.Fatal("a conversation without an id")
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

	store := c.store(first, "shared", "The text of the shared store.")
	var found struct {
		ID string `json:"id"`
	}
	c.ask(second+"/v1/vector_stores/"+store, &found)
	if found.ID != store {
		t.Errorf("the other pod has the vector store %q, want %q", found.ID, store)
	}
}
