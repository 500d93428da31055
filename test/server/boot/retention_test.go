//go:build server

package boot

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/test/server/realserver"
)

// TestRetention changes a stack step by step. After each step, it checks that no client data was lost, and that the
// change has the expected effect on the server.
func TestRetention(t *testing.T) {
	t.Parallel()
	releases, stores := retentionScope(t)
	eachRetained(t, releases, stores, func(t *testing.T, rel *release.Release, store string) {
		var r *retention
		planned := newRetention(t, plannedKeptStack(t, rel, store, nil))
		inputs := []any{planned.stack.planned(t)}
		steps := []namedTest{{"first start", func(t *testing.T) { r.fill(t) }}}
		for _, tc := range retentionCases {
			if tc.has != nil && !tc.has(rel) {
				continue
			}
			tc.change(t, planned)
			inputs = append(inputs, planned.stack.planned(t))
			steps = append(steps, namedTest{tc.name, func(t *testing.T) { r.try(t, &tc) }})
		}
		begin := func() { r = newRetention(t, newKeptStack(t, rel, store, nil)) }
		inSequence(t, []string{rel.Version}, begin, steps, inputs...)
	})
}

// eachRetained runs a test for each release and store, in parallel.
func eachRetained(
	t *testing.T, releases []*release.Release, stores []string,
	test func(t *testing.T, rel *release.Release, store string),
) {
	t.Helper()
	for _, rel := range releases {
		for _, store := range stores {
			t.Run(rel.Version+"/"+store, func(t *testing.T) {
				t.Parallel()
				test(t, rel, store)
			})
		}
	}
}

// retentionScope returns the releases and stores to test. For `make test-retention`, it returns all stores. Otherwise,
// it returns the two stores that differ most. If RELEASES is not set, it returns the default release and the newest
// release.
func retentionScope(t *testing.T) (releases []*release.Release, stores []string) {
	t.Helper()
	stores = []string{onSQLite, onRedis}
	if wholeRetention {
		stores = append(stores, onPostgres)
	}
	if !realserver.Named() {
		offered := release.Offered()
		return []*release.Release{lineOf(t, release.DefaultLine()), lineOf(t, offered[len(offered)-1])}, stores
	}
	releases, err := realserver.Releases()
	if err != nil {
		t.Fatal(err)
	}
	// In these releases, a repeated registration replaces the first registration, so the test omits these releases.
	return slices.DeleteFunc(releases, func(rel *release.Release) bool { return rel.Runtime.RegistryReplaces }), stores
}

// lineOf returns the release for a line or a version.
func lineOf(t *testing.T, name string) *release.Release {
	t.Helper()
	match, err := release.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	return match.Release
}

// retention is a stack with its clients' data.
type retention struct {
	stack        *keptStack
	ofClient     string // the ID of the client's vector store
	clientText   string // the text in the client's vector store
	declaredText string // the text in the declared vector store
	clientModel  string // the public ID of the client's model, if clients of the release can register models
}

func newRetention(t *testing.T, stack *keptStack) *retention {
	t.Helper()
	r := &retention{
		stack: stack, clientText: "The client keeps its bees in the attic.",
		declaredText: "The operator keeps its keys in the cellar.",
	}
	r.declare(t, "first name")
	return r
}

// fill starts the stack for the first time, and creates the client data.
func (r *retention) fill(t *testing.T) {
	r.stack.start(t, func(server *llamaStack) error { return r.use(t.Context(), server) })
}

// use sends the requests that clients would send.
func (r *retention) use(ctx context.Context, server *llamaStack) (err error) {
	embedding := r.public("embed", "")
	if r.ofClient, err = server.vectorStoreWithFile(ctx, "of a client", "faiss", embedding, r.clientText); err != nil {
		return err
	}
	if declaresStores(r.stack.rel) {
		if err := server.attach(ctx, declaredStore, r.declaredText); err != nil {
			return err
		}
	}
	registered, err := server.registerModel(ctx, r.stack.rel, "client")
	if err != nil {
		return err
	}
	if registered {
		r.clientModel = r.public("client", "client")
	}
	return errors.Join(r.kept(ctx, server), server.wantModel(ctx, r.public(autoListed, ""), ""))
}

// try changes the stack, starts it with its state, and checks the result.
func (r *retention) try(t *testing.T, tc *retentionCase) {
	tc.change(t, r)
	r.stack.start(t, func(server *llamaStack) error {
		return errors.Join(tc.check(t.Context(), r, server), r.kept(t.Context(), server))
	})
}

// kept returns an error if client data is lost.
func (r *retention) kept(ctx context.Context, server *llamaStack) error {
	lost := server.wantEntry(ctx, vectorStoresPath, r.ofClient, "")
	lost = errors.Join(lost, server.search(ctx, r.ofClient, r.clientText))
	if r.clientModel != "" {
		lost = errors.Join(lost, server.wantModel(ctx, r.clientModel, ""))
	}
	if lost != nil {
		return fmt.Errorf("lost: %w", lost)
	}
	return nil
}

// models changes the list of models.
func (r *retention) models(t *testing.T, change func(models []any) []any) {
	t.Helper()
	r.stack.change(t, func(spec map[string]any) {
		mapping(spec, "resources")["models"] = change(list(spec, "resources", "models"))
	})
}

// model sets fields of one model.
func (r *retention) model(t *testing.T, name string, set fields) {
	t.Helper()
	r.models(t, func(models []any) []any {
		for _, entry := range models {
			if m := entry.(map[string]any); m["name"] == name {
				maps.Copy(m, set)
			}
		}
		return models
	})
}

// declare sets a base that declares one vector store with the given name, or no vector store if the name is empty or
// the release does not support such declarations.
func (r *retention) declare(t *testing.T, name string) {
	t.Helper()
	var stores []any
	if name != "" && declaresStores(r.stack.rel) {
		stores = []any{fields{
			"vector_store_id": declaredStore, "vector_store_name": name, "provider_id": "faiss",
			"embedding_model": r.public("embed", ""), "embedding_dimension": dimension,
		}}
	}
	r.stack.base = retentionBase(t, r.stack.rel, []string{"faiss"}, stores...)
	r.stack.change(t, func(map[string]any) {})
}

// disposable returns the base's providers that no other provider needs.
func (r *retention) disposable() []any {
	var disabled []any
	for _, item := range [][2]string{{"tool_runtime", "brave-search"}, {"scoring", "basic"}} {
		if _, ok := r.stack.rel.API(item[0]); ok {
			disabled = append(disabled, strings.Join(item[:], "/"))
		}
	}
	return disabled
}

func (r *retention) public(name, upstream string) string { return r.stack.public(name, upstream) }

func keysOf(entries map[string]string) []string { return slices.Sorted(maps.Keys(entries)) }
