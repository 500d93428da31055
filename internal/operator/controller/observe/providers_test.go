package observe

import (
	"fmt"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/probe"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// TestRecordServer checks which providers the status of a stack lists, and that the status contains the number of
// providers that it does not list.
func TestRecordServer(t *testing.T) {
	var listed []v1alpha2.ProviderInfo
	for i := range 30 {
		listed = append(listed, v1alpha2.ProviderInfo{
			API: "inference", ProviderID: fmt.Sprintf("p%02d", i),
			Health: v1alpha2.ProviderHealthStatus{Status: v1alpha2.ProviderHealthNotImplemented},
		})
	}
	answer := probe.Answer{Concluded: true, Providers: listed, MCPServers: []v1alpha2.MCPServerStatus{{ID: "tickets"}}}
	own := &intent.Intent{
		Providers: []intent.Provider{{API: "inference", ID: "p07"}, {API: "vector_io", ID: "p08"}},
		External:  []intent.ExternalProvider{{API: "inference", ID: "p09"}},
	}
	checked := answer
	checked.Providers = append([]v1alpha2.ProviderInfo(nil), listed...)
	checked.Providers[3].Health.Status = v1alpha2.ProviderHealthError
	for name, tc := range map[string]struct {
		annotations map[string]string
		in          *intent.Intent
		answer      probe.Answer
		want        []string
		left        int32
	}{
		"providers in the spec":                       {nil, own, answer, []string{"p07", "p09"}, 28},
		"providers in the spec and checked providers": {nil, own, checked, []string{"p03", "p07", "p09"}, 27},
		"no providers in the spec":                    {nil, &intent.Intent{}, answer, []string{"p00", "p01", "p02", "p03", "p04"}, 25},
		"all providers for v1alpha1": {
			map[string]string{names.AnnotationCompat: names.CompatV1Alpha1}, own, answer, ids(listed), 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := &stack{}
			s.Annotations = tc.annotations
			recordServer(s, tc.in, &tc.answer)
			got := s.Status.DistributionConfig
			if diff := cmp.Diff(tc.want, ids(got.Providers)); diff != "" || got.ProvidersLeftOut != tc.left {
				t.Errorf("%d left out, want %d; providers (-want +got):\n%s", got.ProvidersLeftOut, tc.left, diff)
			}
			if diff := cmp.Diff(tc.answer.MCPServers, s.Status.MCPServers); diff != "" {
				t.Errorf("MCP servers (-want +got):\n%s", diff)
			}
			recordServer(s, tc.in, &probe.Answer{Concluded: true})
			if got.Providers != nil || got.ProvidersLeftOut != 0 || s.Status.MCPServers != nil {
				t.Errorf("the status of a server that lists no providers is %+v", s.Status)
			}
		})
	}
}

func ids(listed []v1alpha2.ProviderInfo) []string {
	var found []string
	for i := range listed {
		found = append(found, listed[i].ProviderID)
	}
	return found
}

// TestAvailable checks that the available distributions include the image overrides only while the overrides are set.
func TestAvailable(t *testing.T) {
	var known available
	catalog := maps.Clone(known.with(nil))
	if catalog["starter"] == "" {
		t.Fatalf("the distribution starter is missing in %v", catalog)
	}
	want := maps.Clone(catalog)
	want["starter"], want["ours"] = "a:1", "b:1"
	for range 2 {
		if diff := cmp.Diff(want, known.with(distribution.Overrides{"starter": "a:1", "ours": "b:1"})); diff != "" {
			t.Errorf("with overrides (-want +got):\n%s", diff)
		}
	}
	if diff := cmp.Diff(catalog, known.with(distribution.Overrides{})); diff != "" {
		t.Errorf("after the removal of the overrides (-want +got):\n%s", diff)
	}
}
