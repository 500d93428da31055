package release_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/provider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

// TestOffline checks which variables prevent access to the internet in each line, and which tokenizer the line's vector
// stores load at startup.
func TestOffline(t *testing.T) {
	always := []string{
		"ANONYMIZED_TELEMETRY=False", "DO_NOT_TRACK=1", "HF_DATASETS_OFFLINE=1", "HF_HUB_DISABLE_TELEMETRY=1",
		"HF_HUB_OFFLINE=1",
		"TRANSFORMERS_OFFLINE=1",
	}
	litellm, tokenizer := between(t, "", "0.8"), between(t, "0.7", "")
	eachLine(t, func(t *testing.T, r *release.Release) {
		want := slices.Clone(always)
		if slices.Contains(litellm, r.Line) {
			want = slices.Insert(want, 5, "LITELLM_LOCAL_MODEL_COST_MAP=True")
		}
		var got []string
		for _, variable := range r.Offline.Variables {
			got = append(got, variable.Name+"="+variable.Value)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("variables (-want +got):\n%s", diff)
		}
		name := ""
		if slices.Contains(tokenizer, r.Line) {
			name = "cl100k_base"
		}
		if r.Offline.Tokenizer != name {
			t.Errorf("tokenizer %q, want %q", r.Offline.Tokenizer, name)
		}
	})
}

// TestServices checks which types call a service or download files. It also checks that each remote type that calls no
// service has a key for the endpoint, unless withoutService lists the type.
func TestServices(t *testing.T) {
	found := map[string]bool{}
	eachLine(t, func(t *testing.T, r *release.Release) {
		eachProvider(r, func(p *provider.Type) {
			name := p.API + "/" + p.Type
			for _, what := range []string{p.Service, p.Downloads} {
				if what != "" {
					found[name] = true
				}
			}
			if p.ServiceAtStart && p.Service == "" {
				t.Errorf("%s calls no service, but is marked as calling one at startup", name)
			}
			if p.IsRemote() && p.Service == "" && p.EndpointKey == "" && !slices.Contains(withoutService, name) {
				t.Errorf("%s has neither an endpoint nor a service", name)
			}
		})
	})
	for _, want := range []string{
		"datasetio/remote::huggingface", "file_processors/inline::docling", "file_processors/remote::unstructured-api",
		"files/remote::openai", "files/remote::s3", "inference/inline::sentence-transformers",
		"inference/inline::transformers",
		"inference/remote::anthropic", "inference/remote::bedrock", "inference/remote::gemini",
		"inference/remote::hf::endpoint",
		"inference/remote::hf::serverless", "inference/remote::oci", "inference/remote::vertexai",
		"post_training/inline::huggingface-gpu", "safety/remote::bedrock", "scoring/inline::basic",
		"scoring/inline::braintrust",
		"tool_runtime/remote::bing-search", "tool_runtime/remote::brave-search", "tool_runtime/remote::exa-search",
		"tool_runtime/remote::nimble-search", "tool_runtime/remote::serply-search", "tool_runtime/remote::tavily-search",
		"tool_runtime/remote::wolfram-alpha",
	} {
		if !found[want] {
			t.Errorf("the data of no line contains %s", want)
		}
		delete(found, want)
	}
	for name := range found {
		t.Errorf("%s needs the internet, and this test does not list it", name)
	}
}

// withoutService lists remote types for which the user specifies the service in requests, or in keys other than the key
// for the endpoint.
var withoutService = []string{"tool_runtime/remote::model-context-protocol", "vector_io/remote::oci"}
