package probe_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/probe"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// listingModels serves a version, no providers, and the models.
func listingModels(models http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/models" {
			models(w, r)
			return
		}
		answer("0.7.1")(w, r)
	}
}

func sending(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) }
}

// TestModels checks that the result lists the models of every release with their public IDs, that the list is sorted
// and bounded, and that the result contains no other part of the response.
func TestModels(t *testing.T) {
	llama := v1alpha2.ModelStatus{ID: "vllm/meta-llama/Llama-3.2-3B", Type: "llm"}
	var many []string
	for i := range 120 {
		many = append(many, fmt.Sprintf(`{"id": "openai/m%03d", "custom_metadata": {"model_type": "llm", "provider_id": "openai"}}`, i))
	}
	first := make([]v1alpha2.ModelStatus, 20)
	for i := range first {
		first[i] = v1alpha2.ModelStatus{ID: fmt.Sprintf("openai/m%03d", i), Type: "llm"}
	}
	for name, tc := range map[string]struct {
		answer string
		want   probe.Models
	}{
		"no models": {`{"data": []}`, probe.Models{Listed: []v1alpha2.ModelStatus{}}},
		"0.2": {listing(`{"identifier": "vllm/meta-llama/Llama-3.2-3B", "provider_resource_id": "` + canary + `", "provider_id": "vllm", "type": "model",
			"metadata": {"key": "` + canary + `"}, "model_type": "llm"}`), probe.Models{Listed: []v1alpha2.ModelStatus{llama}}},
		"0.4 and newer, sorted": {
			listing(`{"id": "vllm/meta-llama/Llama-3.2-3B", "object": "model", "created": 1, "owned_by": "llama_stack",
				"custom_metadata": {"model_type": "llm", "provider_id": "vllm", "provider_resource_id": "`+canary+`"}}`,
				`{"id": "all-MiniLM-L6-v2", "custom_metadata": {"model_type": "embedding", "provider_id": "sentence-transformers", "embedding_dimension": 384}}`),
			probe.Models{Listed: []v1alpha2.ModelStatus{{
				ID: "all-MiniLM-L6-v2", Type: "embedding",
				Provider: "sentence-transformers",
			}, llama}},
		},
		"without properties": {
			listing(`{"id": "a@1:b", "custom_metadata": null}`, `{"id": "a@1:b"}`, `{"id": "b", "custom_metadata": {"model_type": "`+canary+` ", "provider_id": "<"}}`),
			probe.Models{Listed: []v1alpha2.ModelStatus{{ID: "a@1:b"}, {ID: "b"}}},
		},
		"an ID that does not begin with its provider": {
			listing(`{"id": "vllm", "custom_metadata": {"provider_id": "vllm"}}`, `{"id": "vllm-2/m", "custom_metadata": {"provider_id": "vllm"}}`),
			probe.Models{Listed: []v1alpha2.ModelStatus{{ID: "vllm", Provider: "vllm"}, {ID: "vllm-2/m", Provider: "vllm"}}},
		},
		"invalid ids are left out": {
			listing(`{"id": "a b"}`, `{"id": ""}`, `{"id": "<script>"}`, `{"id": "`+strings.Repeat("x", 300)+`"}`, `{}`),
			probe.Models{Listed: []v1alpha2.ModelStatus{}},
		},
		"too many":   {listing(many...), probe.Models{Listed: first, LeftOut: 100}},
		"not JSON":   {canary, probe.Models{}},
		"not a list": {`{"data": "` + canary + `"}`, probe.Models{}},
		"no data":    {`{"detail": "` + canary + `"}`, probe.Models{}},
		"too large":  {`{"data": [], "x": "` + strings.Repeat("x", 600<<10) + `"}`, probe.Models{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := start(t, listingModels(sending(tc.answer)), false)
			got := b.answered(t, probe.Target{Stack: stack("my"), Rollout: "1", Port: 8321})
			if diff := cmp.Diff(tc.want, got.Models); diff != "" {
				t.Errorf("models (-want +got):\n%s", diff)
			}
			if requests := b.quiet(t); requests != 3 {
				t.Errorf("%d requests, want 3", requests)
			}
			if text := fmt.Sprintf("%+v", got) + b.logged(); strings.Contains(text, canary) {
				t.Errorf("the result contains a secret:\n%s", text)
			}
		})
	}
}

// TestModelsLater checks that the prober ends its attempts if the list of models always fails, and that it requests the
// models again in the next rollout.
func TestModelsLater(t *testing.T) {
	var good atomic.Bool
	models := whenGood(&good, sending(listing(`{"id": "m"}`)))
	b := startWith(t, probe.Options{Interval: retry}, listingModels(models), false)
	target := probe.Target{Stack: stack("my"), Rollout: "1", Port: 8321}
	if got := b.answered(t, target); len(got.Models.Listed) != 0 {
		t.Errorf("models %+v", got.Models)
	}
	// The prober sends one request for the version, and two requests in each of the five attempts.
	if got := b.quiet(t); got != 11 {
		t.Errorf("%d requests, want 11", got)
	}
	good.Store(true)
	target.Rollout = "2"
	testutil.Within(t, soon, func() error {
		if got := b.Ask(target).Models.Listed; len(got) != 1 || got[0].ID != "m" {
			return fmt.Errorf("models %+v", got)
		}
		return nil
	})
}
