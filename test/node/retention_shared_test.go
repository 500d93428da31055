//go:build node && all

package node

import (
	"fmt"
	"strings"
	"testing"
)

// Three stacks share one Redis server: two stacks in one namespace, and a stack in another namespace. This third stack
// has the same name as the first stack. Each stack lists only its own models and vector stores, even after one of the
// stacks has changed and all stacks have been restarted.
func TestRetentionSharedRedis(t *testing.T) {
	s := newRealScenario(t, "server@"+realRelease, "databases")
	s.redis()
	other := newScenario(t)
	other.patience = s.patience
	other.apply(secret("redis", "password", redisPassword))
	redis := fmt.Sprintf(onRedis, "redis."+s.namespace+".svc:6379")
	stacks := []*sharing{
		{scenario: s, client: retainingScenario(s), stack: "one", model: "one-8b", length: 1000},
		{scenario: s, stack: "two", model: "two-8b", length: 2000},
		{scenario: other, client: retainingScenario(other), stack: "one", model: "other-8b", length: 3000},
	}
	stacks[1].client = stacks[0].client
	for _, each := range stacks {
		each.declare(redis)
	}
	for _, each := range stacks {
		each.settled(each.stack, 1)
		each.fill()
	}
	check := func() {
		t.Helper()
		for _, each := range stacks {
			each.seesItsOwn(stacks)
		}
	}
	check()

	changed := stacks[0]
	changed.model, changed.length = "changed-8b", 4000
	changed.declare(redis)
	changed.settledAs(changed.stack, changed.models(), changed.client)
	check()
	for _, each := range stacks {
		pods := each.settled(each.stack, 1)
		each.restart(&pods[0])
		t.Logf("stack %s of %s:\n%s", each.stack, each.namespace, each.registryLog(pods[0].Name, serverContainer))
	}
	check()
}

// sharing is a stack that shares its store with other stacks.
type sharing struct {
	*scenario
	client       clientPod
	stack, model string
	length       int
	store        string
}

func (s *sharing) url() string { return s.service(s.stack) }

func (s *sharing) text() string { return "The text of " + s.namespace + "/" + s.stack + "." }

func (s *sharing) models() map[string]int { return map[string]int{"vllm/" + s.model: s.length} }

func (s *sharing) declare(store string) {
	s.t.Helper()
	s.apply(stack(s.stack, fmt.Sprintf(retained, model(s.model, s.length), store, 1)))
}

// fill creates the stack's vector store and adds a text. With Redis, a request can use a closed connection and never
// complete. All later requests then wait too, so fill restarts the server.
func (s *sharing) fill() {
	s.t.Helper()
	const starts, tries = 4, 15
	for range starts {
		late := 0
		for try := 0; try < tries && late < 2; try++ {
			id, err := s.client.createStore(s.url(), "faiss", s.stack)
			if err == nil {
				s.store = id
				s.client.insert(s.url(), id, s.stack, s.text())
				return
			}
			if strings.Contains(err.Error(), "Client.Timeout") {
				late++
			}
			s.t.Logf("stack %s of %s: %v", s.stack, s.namespace, err)
		}
		pods := s.settled(s.stack, 1)
		s.restart(&pods[0])
	}
	s.t.Fatalf("the server of stack %s in %s did not create a vector store, although it was started %d times", s.stack, s.namespace, starts)
}

// seesItsOwn waits until the stack lists only its own entries and finds its text. It also checks that the stack does
// not return the vector stores of the other stacks.
func (s *sharing) seesItsOwn(all []*sharing) {
	s.t.Helper()
	s.client.hasModels(s.url(), s.models())
	s.client.hasStores(s.url(), s.store)
	s.client.finds(s.url(), s.store, s.text())
	for _, other := range all {
		if other == s {
			continue
		}
		var found map[string]any
		if err := s.client.try(s.url()+"/v1/vector_stores/"+other.store, &found); err == nil {
			s.t.Errorf("stack %s in %s returns the vector store of stack %s in %s: %v", s.stack, s.namespace, other.stack, other.namespace, found)
		}
	}
}
