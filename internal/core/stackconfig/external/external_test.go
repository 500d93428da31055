package external_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/externalprovider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/baseconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/draft"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/external"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
)

func newDraft(t *testing.T, in *intent.Intent) *draft.Draft {
	t.Helper()
	base, err := baseconfig.Parse([]byte("providers: {inference: [{provider_id: one, provider_type: 'remote::vllm'}]}"))
	if err != nil {
		t.Fatal(err)
	}
	d := draft.New(base, in, release.Default(), "")
	draft.Resolve(d)
	return d
}

func TestApply(t *testing.T) {
	path := field.NewPath("spec", "externalProviders", "inference")
	in := &intent.Intent{External: []intent.ExternalProvider{
		{API: "inference", ID: "two", Image: "a", Path: path.Index(0)},
		{API: "inference", ID: "one", Image: "b", Path: path.Index(1)},
		{API: "inference", ID: "three", Image: "c", Path: path.Index(2)},
	}}
	d := newDraft(t, in)
	got := external.Apply(d, map[string]*externalprovider.Package{
		"one":   {API: "inference", Type: "remote::one", Module: "one"},
		"three": {API: "safety", Type: "remote::three", Module: "three"},
	})
	want := []external.Installed{
		{ExternalProvider: &in.External[0]},
		{ExternalProvider: &in.External[1], Type: "remote::one", Module: "one"},
	}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b *intent.ExternalProvider) bool { return a == b })); diff != "" {
		t.Errorf("installed (-want +got):\n%s", diff)
	}
	types := map[string]string{}
	for _, item := range yamlnode.Items(yamlnode.At(d.Root, "providers", "inference")) {
		types[yamlnode.Text(item, "provider_id")] = yamlnode.Text(item, "provider_type")
	}
	if diff := cmp.Diff(map[string]string{"one": "remote::one", "two": externalprovider.UnknownType}, types); diff != "" {
		t.Errorf("types (-want +got):\n%s", diff)
	}
	report := d.Finish()
	const moved = `spec.externalProviders.inference[2]: image "c" contains a provider of the API safety: move this provider to spec.externalProviders.safety`
	if diff := cmp.Diff(moved, intent.Messages(report.Errors)); diff != "" {
		t.Errorf("errors (-want +got):\n%s", diff)
	}
	overrides := []draft.Finding{{
		Path: "spec.externalProviders.inference[1].providerId", Overrides: true,
		Message: `the external provider "one" replaces the configuration's own provider of type remote::vllm; to keep both providers, give the external provider another ID`,
	}}
	if diff := cmp.Diff(overrides, report.Warnings); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}
