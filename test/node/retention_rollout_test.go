//go:build node && all

package node

import (
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// mostStores is the maximum number of vector stores that a client creates during a rollout. leastStores is the minimum
// number. With fewer stores, the test would not be meaningful.
const (
	mostStores  = 60
	leastStores = 4
)

// creation contains the vector stores that a client created before it was stopped, and its failed requests.
type creation struct {
	ids      []string
	refused  int
	last     error
	finished chan struct{}
}

// createStores creates vector stores one after the other until the channel stop is closed, but no more than mostStores.
// It repeats a failed request, because a server that is stopping does not respond.
func (c clientPod) createStores(url string, stop <-chan struct{}) *creation {
	made := &creation{finished: make(chan struct{})}
	go func() {
		defer close(made.finished)
		pause := time.NewTicker(poll)
		defer pause.Stop()
		for len(made.ids) < mostStores {
			select {
			case <-stop:
				return
			case <-c.t.Context().Done():
				return
			case <-pause.C:
			}
			id, err := c.createStore(url, "faiss", fmt.Sprintf("number %d", len(made.ids)))
			if err != nil {
				made.refused, made.last = made.refused+1, err
				continue
			}
			made.ids = append(made.ids, id)
		}
	}()
	return made
}

// A change to the declared models is rolled out to two replicas with PostgreSQL, while a client creates vector stores
// through the Service. No vector store is lost: after a restart of its server, each pod lists all of them. Before the
// restart, a server of this release lists only the vector stores that existed when it started and those that it
// created.
func TestRetentionRollOut(t *testing.T) {
	s := newRealScenario(t, "server@"+realRelease, "databases")
	s.postgres()
	c := retainingScenario(s)
	s.apply(stack("my", fmt.Sprintf(retained, model("llama3.2-8b", 32000), onPostgres, 2)))
	before := s.settled("my", 2)
	url := s.service("my")
	kept := c.store(at(&before[0]), "faiss", "kept", "The text of the first store.")

	stop := make(chan struct{})
	made := c.createStores(url, stop)
	s.apply(stack("my", fmt.Sprintf(retained, model("llama3.2-8b", 64000)+", "+model("added-8b", 16000), onPostgres, 2)))
	after := s.settled("my", 2)
	close(stop)
	<-made.finished
	t.Logf("%d vector stores were created during the rollout, and %d requests failed; the last error is: %v", len(made.ids), made.refused, made.last)
	if len(made.ids) < leastStores {
		t.Fatalf("%d vector stores were created during the rollout, want at least %d", len(made.ids), leastStores)
	}
	all := slices.Concat(made.ids, []string{kept})
	for i := range after {
		if slices.ContainsFunc(before, func(old corev1.Pod) bool { return old.UID == after[i].UID }) {
			t.Errorf("pod %s was not replaced", after[i].Name)
		}
		found, err := c.stores(at(&after[i]))
		t.Logf("pod %s lists %d of %d vector stores before its server is restarted (%v)", after[i].Name, len(found), len(all), err)
	}
	for i := range after {
		s.restart(&after[i])
		c.hasStores(at(&after[i]), all...)
		c.finds(at(&after[i]), kept, "The text of the first store.")
		c.hasModels(at(&after[i]), map[string]int{"vllm/llama3.2-8b": 64000, "vllm/added-8b": 16000})
		t.Logf("pod %s:\n%s", after[i].Name, s.registryLog(after[i].Name, serverContainer))
	}
}
