package draft_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/baseconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/draft"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
)

func newDraft(t *testing.T, base string, in *intent.Intent) *draft.Draft {
	t.Helper()
	parsed, err := baseconfig.Parse([]byte(base))
	if err != nil {
		t.Fatal(err)
	}
	d := draft.New(parsed, in, release.Default(), "")
	draft.Resolve(d)
	return d
}

// The origin of a written value is its field, and the origin of any other value is the base. The base does not change.
func TestWrite(t *testing.T) {
	d := newDraft(t, "server: {port: 1, host: h}", &intent.Intent{})
	origin := draft.From(field.NewPath("spec", "networking", "port"))
	server := d.Section(d.Root, "server", draft.FromBase)
	d.Write(draft.Under(server, "port"), yamlnode.Int(2), origin)
	var got []draft.Explained
	for _, value := range d.Finish().Explain() {
		if value.Path != "providers" {
			got = append(got, value)
		}
	}
	want := []draft.Explained{
		{Path: "server.port", Named: "server.port", Value: "2", Origin: "spec.networking.port"},
		{Path: "server.host", Named: "server.host", Value: "h", Origin: "base"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("explained (-want +got):\n%s", diff)
	}
	if port := yamlnode.Text(yamlnode.Get(d.Base, "server"), "port"); port != "1" {
		t.Errorf("the base has port %s", port)
	}
}

// A resource can name a provider that depends on an unset variable, but not a provider that the server skips.
func TestAvailableProviders(t *testing.T) {
	const base = `providers: {inference: [{provider_id: __disabled__}, {provider_id: "${env.A:=__disabled__}"}, {provider_id: "${env.B:+b}"}, {provider_id: c}],
  safety: [{provider_id: __disabled__}]}`
	d := newDraft(t, base, &intent.Intent{})
	for api, want := range map[string]string{"inference": "b, c", "safety": "none"} {
		if got := d.AvailableProviders(api); got != want {
			t.Errorf("%s: %q, want %q", api, got, want)
		}
	}
}

// A provider is found by its resolved ID. It is enabled only if its variable is known to be set.
func TestResolve(t *testing.T) {
	const base = "providers: {inference: [{provider_id: '${env.A:+a}'}, {provider_id: '${env.B:+b}'}, {provider_id: c}]}"
	d := newDraft(t, base, &intent.Intent{Variables: []string{"A"}})
	for id, want := range map[string]bool{"a": true, "b": false, "c": true} {
		if p := d.Index.Find("inference", id); p == nil || p.Enabled != want {
			t.Errorf("%s is %v", id, p)
		}
	}
	d.Index.Remove(func(p *draft.Provider) bool { return p.ID == "a" })
	if d.Index.Find("inference", "a") != nil || d.AvailableProviders("inference") != "b, c" {
		t.Errorf("left: %s", d.AvailableProviders("inference"))
	}
}

func TestStartupText(t *testing.T) {
	d := newDraft(t, "{}", &intent.Intent{Variables: []string{"SET"}})
	for _, tt := range []struct {
		text, want string
		replaced   bool
	}{
		{"text", "", false},
		{"${env.SET}", "", false},
		{"${env.SET:=a}", "${env.SET}", true},
		{"${env.UNSET:=a}b", "ab", true},
		{"${env.SET:+a}", "a", true},
		{"${env.UNSET:+a}", "", true},
		{"${env.A:=a}${env.B:=b}", "", false},
	} {
		if got, replaced := d.StartupText(yamlnode.String(tt.text)); got != tt.want || replaced != tt.replaced {
			t.Errorf("%s: %q, %t", tt.text, got, replaced)
		}
	}
	kinds := []string{}
	for _, text := range []string{"", "TRUE", "1_000", "1e3", "x"} {
		kinds = append(kinds, draft.Converted(text).ShortTag())
	}
	if want := []string{"!!null", "!!bool", "!!int", "!!float", "!!str"}; !slices.Equal(kinds, want) {
		t.Errorf("converted to %v", kinds)
	}
}

func TestExplain(t *testing.T) {
	const config = `
version: 2
apis: [inference]
providers:
  inference:
  - {provider_id: "${env.VLLM_URL:+vllm}", config: {url: "http://vllm", tls: {}}}
  - {config: {}}
registered_resources: {models: [{model_id: m, provider_id: vllm}], shields: []}
`
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(config), &document); err != nil {
		t.Fatal(err)
	}
	want := []draft.Explained{
		{Path: "version", Named: "version", Value: "2"},
		{Path: "apis[0]", Named: "apis[inference]", Value: "inference"},
		{
			Path: "providers.inference[0].provider_id", Named: "providers.inference[vllm].provider_id",
			Value: "${env.VLLM_URL:+vllm}",
		},
		{Path: "providers.inference[0].config.url", Named: "providers.inference[vllm].config.url", Value: "http://vllm"},
		{Path: "providers.inference[0].config.tls", Named: "providers.inference[vllm].config.tls", Value: "{}"},
		{Path: "providers.inference[1].config", Named: "providers.inference[1].config", Value: "{}"},
		{Path: "registered_resources.models[0].model_id", Named: "registered_resources.models[m].model_id", Value: "m"},
		{Path: "registered_resources.models[0].provider_id", Named: "registered_resources.models[m].provider_id", Value: "vllm"},
		{Path: "registered_resources.shields", Named: "registered_resources.shields", Value: "[]"},
	}
	if diff := cmp.Diff(want, draft.Explain(document.Content[0], "")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
