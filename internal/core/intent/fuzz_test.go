package intent_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
)

// FuzzProviders checks that, for any JSON in spec.providers, decoding does not panic and a second run has the same
// result. It also checks that each entry is complete or has an error, and that the path of every error is inside
// spec.providers.
func FuzzProviders(f *testing.F) {
	for _, seed := range []string{
		`{"provider":"vllm","endpoint":"http://vllm:8000","apiKey":{"secretKeyRef":{"name":"a","key":"b"}}}`,
		`[{"id":"a","provider":"vllm"},{"id":"b","provider":"openai","settings":{"x":[1,2.5,null,true]}}]`,
		`{"provider":"pgvector","host":{"secretKeyRef":{"name":"pg","key":"host"}},"secretRefs":{"user":{"name":"a","key":"b"}}}`,
		`{"provider":true,"id":7,"endpont":""}`, `[]`, `null`, `"vllm"`, `[[{}]]`, `{"":{"secretKeyRef":null}}`, `{`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		decode := func() ([]intent.Provider, field.ErrorList) {
			obj := &v1alpha2.LlamaStackDistribution{}
			obj.Spec.Providers = &v1alpha2.ProvidersSpec{Inference: &v1alpha2.Providers{Raw: raw}}
			in, errs := intent.FromObject(obj)
			return in.Providers, errs
		}
		providers, errs := decode()
		again, errsAgain := decode()
		if diff := cmp.Diff(providers, again, paths); diff != "" || intent.Messages(errs) != intent.Messages(errsAgain) {
			t.Errorf("two runs have different results: %s", diff)
		}
		for _, err := range errs {
			if err.Detail == "" || !strings.HasPrefix(err.Field, "spec.providers.inference") {
				t.Errorf("the error %v has no message, or the path %q", err, err.Field)
			}
		}
		for _, p := range providers {
			if p.ID == "" || p.Type == "" || p.Path == nil {
				t.Errorf("an incomplete provider: %+v", p)
			}
		}
		if written := entries(raw); len(providers) < written && len(errs) == 0 {
			t.Errorf("%d of %d providers without an error", len(providers), written)
		}
	})
}

// entries counts the entries in the JSON.
func entries(raw []byte) int {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil && list != nil {
		return max(len(list), 1)
	}
	return 1
}

// FuzzResources checks the same for the three lists of resources and for expose.
func FuzzResources(f *testing.F) {
	for _, seed := range []string{
		`"llama"`, `{"name":"a","provider":"b","contextLength":5,"metadata":{"x":1}}`, `{"name":"a","mcpEndpoint":"http://x"}`,
		`{"name":"a","params":{}}`, `true`, `{"hostname":"a","annotations":{"b":"c"}}`, `null`, `1e999`, `{"contextLength":1e3}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var obj v1alpha2.LlamaStackDistribution
		obj.Spec.Resources = &v1alpha2.ResourcesSpec{
			Models:  []v1alpha2.ModelEntry{{Raw: raw}},
			Tools:   []v1alpha2.ToolEntry{{Raw: raw}},
			Shields: []v1alpha2.ShieldEntry{{Raw: raw}},
		}
		in, errs := intent.FromObject(&obj)
		found := len(in.Models) + len(in.Tools) + len(in.Shields)
		if found < 3 && len(errs) == 0 {
			t.Errorf("%d of 3 resources without an error", found)
		}
		for _, m := range in.Models {
			if m.Name == "" || (m.ContextLength != nil && *m.ContextLength <= 0) {
				t.Errorf("an incomplete model: %+v", m)
			}
		}
		enabled, _, errs := intent.DecodeExpose(&v1alpha2.Expose{Raw: raw}, path("expose"))
		if enabled && len(errs) > 0 {
			t.Errorf("exposed with errors: %s", intent.Messages(errs))
		}
	})
}
