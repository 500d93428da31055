//go:build server

package boot

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

// declaredStore is a vector store that the base configuration declares.
const declaredStore = "declared"

// retentionCase is one change to a running stack, and the expected state of the server after the change.
type retentionCase struct {
	name string
	// has reports whether the release has the part that the case changes. If it is nil, every release has the part.
	has    func(rel *release.Release) bool
	change func(t *testing.T, r *retention)
	check  func(ctx context.Context, r *retention, server *llamaStack) error
}

// retentionCases run one after the other with the same state.
var retentionCases = []retentionCase{
	{
		name: "model added",
		change: func(t *testing.T, r *retention) {
			r.models(t, func(models []any) []any { return append(models, fields{"name": "added", "provider": "vllm"}) })
		},
		check: func(ctx context.Context, r *retention, server *llamaStack) error {
			return server.wantModel(ctx, r.public("added", ""), "")
		},
	},
	{
		name: "metadata changed",
		change: func(t *testing.T, r *retention) {
			r.model(t, "plain", fields{"contextLength": 64123})
		},
		check: func(ctx context.Context, r *retention, server *llamaStack) error {
			return server.wantModel(ctx, r.public("plain", ""), "64123")
		},
	},
	{
		name: "provider's ID changed",
		change: func(t *testing.T, r *retention) {
			r.model(t, "alias", fields{"providerModelId": "vendor-new"})
		},
		check: func(ctx context.Context, r *retention, server *llamaStack) error {
			before, now := r.public("alias", "vendor-old"), r.public("alias", "vendor-new")
			if err := server.wantModel(ctx, now, "vendor-new"); err != nil {
				return err
			}
			if before == now {
				return nil
			}
			return server.wantNoModel(ctx, before)
		},
	},
	{
		name: "model removed",
		change: func(t *testing.T, r *retention) {
			r.models(t, func(models []any) []any {
				return slices.DeleteFunc(models, func(m any) bool { return m.(map[string]any)["name"] == "spare" })
			})
		},
		check: func(ctx context.Context, r *retention, server *llamaStack) error {
			return server.wantNoModel(ctx, r.public("spare", ""))
		},
	},
	{
		name: "listed, then declared",
		change: func(t *testing.T, r *retention) {
			r.models(t, func(models []any) []any {
				return append(models, fields{"name": autoListed, "provider": "vllm", "contextLength": 32123})
			})
		},
		check: func(ctx context.Context, r *retention, server *llamaStack) error {
			return server.wantModel(ctx, r.public(autoListed, ""), "32123")
		},
	},
	{
		name: "shield changed",
		has:  func(rel *release.Release) bool { _, ok := rel.Resource("shields"); return ok },
		change: func(t *testing.T, r *retention) {
			r.stack.change(t, func(spec map[string]any) {
				mapping(spec, "resources")["shields"] = []any{fields{
					"name": "guard", "provider": "llama-guard",
					"model": "vllm/added",
				}}
			})
		},
		check: func(ctx context.Context, _ *retention, server *llamaStack) error {
			return server.wantEntry(ctx, "/v1/shields", "guard", "vllm/added")
		},
	},
	{
		name: "store renamed",
		has:  declaresStores,
		change: func(t *testing.T, r *retention) {
			r.declare(t, "second name")
		},
		check: func(ctx context.Context, r *retention, server *llamaStack) error {
			// Clients continue to receive the first name, because the provider does not change a recorded name.
			return server.search(ctx, declaredStore, r.declaredText)
		},
	},
	{
		name: "store removed",
		has:  declaresStores,
		change: func(t *testing.T, r *retention) {
			r.declare(t, "")
		},
		check: func(ctx context.Context, _ *retention, server *llamaStack) error {
			return server.wantNoEntry(ctx, vectorStoresPath, declaredStore)
		},
	},
	{
		name: "store back",
		has:  declaresStores,
		change: func(t *testing.T, r *retention) {
			r.declare(t, "third name")
		},
		check: func(ctx context.Context, r *retention, server *llamaStack) error {
			return server.search(ctx, declaredStore, r.declaredText)
		},
	},
	{
		name: "provider removed",
		change: func(t *testing.T, r *retention) {
			r.stack.change(t, func(spec map[string]any) {
				providers := mapping(spec, "providers")
				providers["inference"] = providers["inference"].([]any)[:1]
				spec["disabled"] = r.disposable()
			})
		},
		check: func(ctx context.Context, r *retention, server *llamaStack) error {
			gone := model{provider: "second", name: autoListed}
			return server.wantNoModel(ctx, gone.public(r.stack.rel))
		},
	},
}

func declaresStores(rel *release.Release) bool {
	stores, ok := rel.Resource("vector_stores")
	return ok && !stores.Dropped
}

type fields = map[string]any

// vectorStoresPath is the path for a list with the maximum number of vector stores in one response.
const vectorStoresPath = "/v1/vector_stores?limit=100"

func (s *llamaStack) wantModel(ctx context.Context, id, text string) error {
	return s.wantEntry(ctx, "/v1/models", id, text)
}

func (s *llamaStack) wantNoModel(ctx context.Context, id string) error {
	return s.wantNoEntry(ctx, "/v1/models", id)
}

// wantEntry returns an error unless the list at a path contains an entry with this ID and this text.
func (s *llamaStack) wantEntry(ctx context.Context, path, id, text string) error {
	entries, err := s.entries(ctx, path)
	if err != nil {
		return err
	}
	entry, ok := entries[id]
	if !ok {
		return fmt.Errorf("%s does not list %q, only %q", path, id, keysOf(entries))
	}
	if !strings.Contains(entry, text) {
		return fmt.Errorf("%s: the entry of %q does not contain %q: %s", path, id, text, entry)
	}
	return nil
}

func (s *llamaStack) wantNoEntry(ctx context.Context, path, id string) error {
	entries, err := s.entries(ctx, path)
	if err != nil {
		return err
	}
	if entry, ok := entries[id]; ok {
		return fmt.Errorf("%s still lists %q: %s", path, id, entry)
	}
	return nil
}
