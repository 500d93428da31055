//go:build server

package boot

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
)

// namedStack is a stack whose vector stores or access rules name a model by its public ID.
type namedStack struct {
	*retention
	// first is the plan of the pods that clients used first.
	first *plan.Plan
}

// nameStep is a change to a namedStack.
type nameStep struct {
	name string
	// release is the release after the change.
	release string
	change  func(t *testing.T, s *namedStack)
	// waits lists the data for which the change waits, compared with the first pods. If there is such data, the check
	// shows what the change would break.
	waits []string
	check func(ctx context.Context, s *namedStack, server *llamaStack) error
}

// nameCases contains, for each reason for a change of a public ID, the steps of a stack: the first pods, the change,
// and the remedy in the message about the change.
var nameCases = map[string][]nameStep{
	"embedding model with a providerModelId, 0.7 to 1.5": {
		{
			name:    "first pods",
			release: "0.7",
			change:  embeddingModel(fields{"name": "mine", "providerModelId": "emb"}),
			check:   fillStore,
		},
		{name: "upgrade", release: "1.5", waits: []string{"models/vllm/emb"}, check: searchFails},
		{name: "remedy", release: "1.5", change: embeddingModel(fields{"name": "emb"}), check: searchWorks},
	},
	"inference provider renamed": {
		{name: "first pods", release: "1.5", change: embeddingModel(fields{"name": "emb"}), check: fillStore},
		{
			name:    "renamed",
			release: "1.5",
			change:  inferenceID("renamed"),
			waits:   []string{"models/vllm/emb"},
			check:   searchFails,
		},
		{name: "remedy", release: "1.5", change: inferenceID("vllm"), check: searchWorks},
	},
	"access rule, 0.7 to 1.5": {
		{name: "first pods", release: "0.7", change: forbid("vllm/llama"), check: chatForbidden("vllm/llama")},
		{name: "upgrade", release: "1.5", waits: []string{"model::vllm/llama"}, check: chatAnswers("vllm/mine")},
		{name: "remedy", release: "1.5", change: forbid("vllm/llama", "vllm/mine"), check: chatForbidden("vllm/mine")},
	},
}

// TestPublicNames changes the public IDs of models that vector stores and access rules name (server fact 80). The
// operator must delay the change if the server would break, and only then. With the remedy in the message, the vector
// stores and rules must have the same effect as before.
func TestPublicNames(t *testing.T) {
	t.Parallel()
	for name, steps := range nameCases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var versions []string
			planned := newNamedStack(t, plannedKeptStack(t, lineOf(t, steps[0].release), onSQLite, nil), "http://"+unused)
			var s *namedStack
			var inputs []any
			var tests []namedTest
			for i := range steps {
				steps[i].apply(t, planned)
				versions = append(versions, planned.stack.rel.Version)
				inputs = append(inputs, planned.stack.planned(t))
				tests = append(tests, namedTest{steps[i].name, func(t *testing.T) { s.try(t, &steps[i]) }})
			}
			inSequence(t, versions, func() {
				s = newNamedStack(t, newKeptStack(t, lineOf(t, steps[0].release), onSQLite, nil), startAuthService(t))
				s.stack.on.models.serve("emb") // the provider lists the model, as vLLM does, but not as an embedding model
			}, tests, inputs...)
		})
	}
}

// newNamedStack returns a stack that requires a token from clients.
func newNamedStack(t *testing.T, stack *keptStack, service string) *namedStack {
	t.Helper()
	stack.client = &http.Client{Transport: withToken{}}
	stack.secrets["auth"] = map[string]string{"url": service}
	stack.change(t, func(spec map[string]any) {
		spec["secretEnv"] = fields{"AUTH_SERVICE": secretKey("auth", "url")}
		delete(mapping(spec, "resources"), "shields")
		providers := mapping(spec, "providers")
		providers["inference"] = providers["inference"].([]any)[:1]
	})
	s := &namedStack{retention: &retention{stack: stack, clientText: "The client keeps its bees in the attic."}}
	s.forbid(t)
	return s
}

// withToken adds the token of the test to each request.
type withToken struct{}

func (withToken) RoundTrip(request *http.Request) (*http.Response, error) {
	request = request.Clone(request.Context())
	request.Header.Set("Authorization", "Bearer "+clientToken)
	return http.DefaultTransport.RoundTrip(request)
}

// apply changes the stack, and checks for which data the change waits.
func (step *nameStep) apply(t *testing.T, s *namedStack) {
	t.Helper()
	s.stack.rel = lineOf(t, step.release)
	s.stack.base = retentionBase(t, s.stack.rel, []string{"faiss"})
	s.stack.change(t, func(spec map[string]any) { mapping(spec, "distribution")["version"] = s.stack.rel.Version })
	if step.change != nil {
		step.change(t, s)
	}
	built := planOn(t, s.stack.rel, s.stack.sample, s.stack.baseOf(), s.first)
	if s.first == nil {
		s.first = built
	}
	var waits []string
	waiting, _ := built.Waiting()
	for _, loss := range waiting {
		waits = append(waits, loss.What...)
		t.Log(loss)
	}
	if diff := cmp.Diff(step.waits, waits); diff != "" {
		t.Errorf("%s: the change waits for the loss of (-want +got):\n%s", step.name, diff)
	}
}

// try changes the stack, starts it with its state, and checks the server.
func (s *namedStack) try(t *testing.T, step *nameStep) {
	t.Helper()
	step.apply(t, s)
	s.stack.start(t, func(server *llamaStack) error { return step.check(t.Context(), s, server) })
}

// embeddingModel returns a change of the models to one embedding model and one other model, whose names differ from
// their names at the provider.
func embeddingModel(entry fields) func(t *testing.T, s *namedStack) {
	return func(t *testing.T, s *namedStack) {
		t.Helper()
		embedding := fields{
			"provider":  "vllm",
			"modelType": "embedding",
			"metadata":  fields{"embedding_dimension": dimension},
		}
		maps.Copy(embedding, entry)
		s.models(t, func([]any) []any { return []any{embedding} })
	}
}

// inferenceID returns a change of the ID of the inference provider.
func inferenceID(id string) func(t *testing.T, s *namedStack) {
	return func(t *testing.T, s *namedStack) {
		t.Helper()
		s.stack.change(t, func(spec map[string]any) {
			mapping(spec, "providers")["inference"].([]any)[0].(map[string]any)["id"] = id
			mapping(spec, "resources")["models"].([]any)[0].(map[string]any)["provider"] = id
		})
	}
}

// forbid returns a change of the models to one model with its own name, and of the access rules.
func forbid(ids ...string) func(t *testing.T, s *namedStack) {
	return func(t *testing.T, s *namedStack) {
		t.Helper()
		s.models(t, func([]any) []any {
			return []any{fields{"name": "mine", "provider": "vllm", "providerModelId": "llama"}}
		})
		s.forbid(t, ids...)
	}
}

// forbid sets access rules that forbid models and permit everything else.
func (s *namedStack) forbid(t *testing.T, ids ...string) {
	t.Helper()
	var rules []any
	for _, id := range ids {
		rules = append(rules, fields{"forbid": fields{"actions": []any{"read"}, "resource": "model::" + id}})
	}
	rules = append(rules, fields{"permit": fields{"actions": []any{"create", "read", "update", "delete"}}})
	s.stack.change(t, func(spec map[string]any) {
		spec["settings"] = fields{"server": fields{"auth": fields{
			"provider_config": fields{"type": "custom", "endpoint": "${env.AUTH_SERVICE}/check"}, "access_policy": rules,
		}}}
	})
}

// fillStore creates a vector store with a file, and searches it.
func fillStore(ctx context.Context, s *namedStack, server *llamaStack) (err error) {
	if s.ofClient, err = server.vectorStoreWithFile(ctx, "of a client", "faiss", "vllm/emb", s.clientText); err != nil {
		return err
	}
	return searchWorks(ctx, s, server)
}

func searchWorks(ctx context.Context, s *namedStack, server *llamaStack) error {
	return server.search(ctx, s.ofClient, s.clientText)
}

func searchFails(ctx context.Context, s *namedStack, server *llamaStack) error {
	err := searchWorks(ctx, s, server)
	if failed, ok := errors.AsType[*statusError](err); ok &&
		slices.Contains([]int{http.StatusBadRequest, http.StatusNotFound}, failed.status) {
		return nil
	}
	return fmt.Errorf("the operator delays a change after which the search does not fail: %w", err)
}

func chatAnswers(model string) func(ctx context.Context, s *namedStack, server *llamaStack) error {
	return func(ctx context.Context, _ *namedStack, server *llamaStack) error {
		_, err := server.chat(ctx, model)
		return err
	}
}

func chatForbidden(model string) func(ctx context.Context, s *namedStack, server *llamaStack) error {
	return func(ctx context.Context, _ *namedStack, server *llamaStack) error {
		_, err := server.chat(ctx, model)
		if failed, ok := errors.AsType[*statusError](err); ok && failed.status == http.StatusNotFound &&
			strings.Contains(failed.body, model) {
			return nil
		}
		return fmt.Errorf("a chat with the forbidden model %q does not fail: %w", model, err)
	}
}
