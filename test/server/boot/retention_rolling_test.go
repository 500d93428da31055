//go:build server && retention

package boot

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

// TestRetentionRolling changes a stack with several pods. An old pod serves requests while two new pods start. Then the
// old pod starts again, a new pod starts again, and a pod for the next change starts. Each of these pods must serve
// every vector store that clients created.
func TestRetentionRolling(t *testing.T) {
	releases, _ := retentionScope(t)
	// SQLite is not tested, because only one pod can use its file.
	eachRetained(t, releases, []string{onRedis, onPostgres}, func(t *testing.T, rel *release.Release, store string) {
		r := newRolling(t, rel, store)
		for _, step := range r.steps() {
			t.Run(step.name, step.run)
		}
	})
}

// rolling is a stack with pods from an old template and pods from a new template.
type rolling struct {
	*retention
	before, after pod
	beside        pod      // a second new pod, which starts at the same time as the first
	made          []string // the IDs of the vector stores that clients created
}

func newRolling(t *testing.T, rel *release.Release, store string) *rolling {
	t.Helper()
	r := &rolling{retention: &retention{stack: newKeptStack(t, rel, store, retentionBase(t, rel, []string{"faiss"}))}}
	r.before = r.stack.render(t)
	r.models(t, func(models []any) []any { return append(models, fields{"name": "added", "provider": "vllm"}) })
	r.model(t, "plain", fields{"contextLength": 64123})
	// The pods share the store of the registry, but each has its own volume.
	for _, p := range []*pod{&r.beside, &r.after} {
		r.stack.root = t.TempDir()
		*p = r.stack.render(t)
	}
	return r
}

func (r *rolling) steps() []namedTest {
	return []namedTest{
		{"rollout", r.rollOut},
		// The old pod does not remove resources that only the newer generation declares.
		{"old pod again", func(t *testing.T) { r.boot(t, r.before, "plain", "", "added", "") }},
		{"new pod again", func(t *testing.T) { r.boot(t, r.after, "plain", "64123", "added", "") }},
		{"next edit", func(t *testing.T) {
			r.models(t, func(models []any) []any { return models[:len(models)-1] })
			server := r.boot(t, r.stack.render(t), "plain", "64123")
			if err := server.wantNoModel(t.Context(), r.public("added", "")); err != nil {
				t.Error(err)
			}
		}},
	}
}

// rollOut starts two new pods at the same time while an old pod serves requests and a client creates vector stores.
func (r *rolling) rollOut(t *testing.T) {
	old, err := r.stack.serve(t, r.before, func(server *llamaStack) error { return r.make(t.Context(), server) })
	if err != nil {
		t.Fatal(err)
	}
	client := r.startClient(t, old)
	var group sync.WaitGroup
	var errs [2]error
	for i, p := range []pod{r.after, r.beside} {
		group.Go(func() {
			_, errs[i] = r.stack.serve(t, p, func(server *llamaStack) error {
				return server.wantModel(t.Context(), r.public("plain", ""), "64123")
			})
		})
	}
	group.Wait()
	r.made = append(r.made, client.stop(t)...)
	if err := errors.Join(errs[:]...); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d vector stores created during the rollout", len(r.made))
}

// make creates a vector store as a client does.
func (r *rolling) make(ctx context.Context, server *llamaStack) error {
	id, err := server.createVectorStore(ctx, "of a client", "faiss", r.public("embed", ""))
	if err == nil {
		r.made = append(r.made, id)
	}
	return err
}

// boot starts the server of a pod, and checks that it has every vector store. models contains pairs of a model and a
// text that the entry of the model must contain.
func (r *rolling) boot(t *testing.T, p pod, models ...string) *llamaStack {
	t.Helper()
	server, err := r.stack.serve(t, p, func(server *llamaStack) error {
		missing := r.keeps(t.Context(), server)
		for pair := range slices.Chunk(models, 2) {
			missing = errors.Join(missing, server.wantModel(t.Context(), r.public(pair[0], ""), pair[1]))
		}
		return missing
	})
	if err != nil {
		t.Fatal(err)
	}
	return server
}

// keeps returns an error if the server lacks a vector store that a client created.
func (r *rolling) keeps(ctx context.Context, server *llamaStack) error {
	if len(r.made) == 0 {
		return errors.New("no vector store was created")
	}
	var lost []error
	for _, id := range r.made {
		if err := server.ask(ctx, http.MethodGet, "/v1/vector_stores/"+url.PathEscape(id), nil, nil); err != nil {
			lost = append(lost, err)
		}
	}
	if len(lost) > 0 {
		return fmt.Errorf("%d of %d vector stores are lost: %w", len(lost), len(r.made), lost[0])
	}
	return nil
}

// makingClient creates vector stores until it is stopped.
type makingClient struct {
	cancel context.CancelFunc
	done   chan struct{}
	made   []string
	err    error
}

// pause is the interval at which a client creates vector stores.
const pause = 200 * time.Millisecond

func (r *rolling) startClient(t *testing.T, server *llamaStack) *makingClient {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	c := &makingClient{cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(c.done)
		tick := time.NewTicker(pause)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			// The client's context does not cancel the request, because the client must record every vector store that the
			// server creates.
			id, err := server.createVectorStore(context.WithoutCancel(ctx), "of a client", "faiss", r.public("embed", ""))
			if err != nil {
				c.err = err
				return
			}
			c.made = append(c.made, id)
		}
	}()
	return c
}

// stop stops the client, and returns the IDs of the vector stores.
func (c *makingClient) stop(t *testing.T) []string {
	t.Helper()
	c.cancel()
	<-c.done
	if c.err != nil {
		t.Errorf("the client: %v", c.err)
	}
	return c.made
}
