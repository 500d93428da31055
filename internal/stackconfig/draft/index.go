package draft

import (
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/provider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/yamlnode"
)

// entry is one provider in the configuration.
type Provider struct {
	API string
	// id is what the id of the base becomes when its condition holds:
	// ${env.VLLM_URL:+vllm} is vllm.
	ID string
	// text is the id as it stands in the configuration.
	Text string
	// condition is the variable without which the provider does not exist.
	Condition string
	// enabled says that the provider exists as far as the spec tells.
	Enabled bool
	// providerType is the full type: remote::vllm.
	ProviderType string
	Node         *yaml.Node
	// user is the user's provider, nil for one of the base.
	User *intent.Provider
	// kind is what the release knows of the type, nil when it does not have it.
	Kind *provider.Type
	// incomplete says that a field of the user's was wrong and its key is missing.
	Incomplete bool
}

// index holds the providers in the order of the configuration. They come in by add
// and go by remove, so that they are found by API and id.
type index struct {
	Entries []*Provider
	byAPI   map[string][]*Provider
	byID    map[[2]string]*Provider
}

func (x *index) Add(e *Provider) {
	if x.byID == nil {
		x.byAPI, x.byID = make(map[string][]*Provider), make(map[[2]string]*Provider)
	}
	x.Entries = append(x.Entries, e)
	x.note(e)
}

func (x *index) note(e *Provider) {
	x.byAPI[e.API] = append(x.byAPI[e.API], e)
	if key := [2]string{e.API, e.ID}; x.byID[key] == nil {
		x.byID[key] = e
	}
}

func (x *index) Remove(gone func(*Provider) bool) {
	x.Entries = slices.DeleteFunc(x.Entries, gone)
	x.byAPI, x.byID = make(map[string][]*Provider), make(map[[2]string]*Provider)
	for _, e := range x.Entries {
		x.note(e)
	}
}

// Of are the providers of an API.
func (x *index) Of(api string) []*Provider { return x.byAPI[api] }

// Find is the provider of an API with an id, nil without one.
func (x *index) Find(api, id string) *Provider {
	if id == "" {
		return nil
	}
	return x.byID[[2]string{api, id}]
}

// disabled is what the user takes away, by API in the server's spelling.
type disabled struct {
	Apis      map[string]*intent.Disabled
	Providers map[[2]string]*intent.Disabled
	// dependents are those of providers that nobody named: they need what is disabled.
	Dependents map[[2]string]bool
}

func (x *disabled) Has(api, id string) bool { return x.By(api, id) != nil }

// By is the entry of spec.disabled that takes a provider away, nil when none does.
func (x *disabled) By(api, id string) *intent.Disabled {
	if item := x.Apis[api]; item != nil {
		return item
	}
	return x.Providers[[2]string{api, id}]
}

// Of is the entry that takes an API away, or the first that takes one of its providers; nil when none does.
func (x *disabled) Of(api string) *intent.Disabled {
	first := x.Apis[api]
	for key, item := range x.Providers {
		if key[0] == api && (first == nil || item.Path.String() < first.Path.String()) && x.Apis[api] == nil {
			first = item
		}
	}
	return first
}

// Resolve finds out what the base has: its providers by API and id, with
// conditional ids resolved (API.md 4.3: ids are compared after that), and what
// of it the user does not want.
func Resolve(d *Draft) {
	d.Disabled = disabled{Apis: map[string]*intent.Disabled{}, Providers: map[[2]string]*intent.Disabled{}}
	for i := range d.Intent.Disabled {
		item := &d.Intent.Disabled[i]
		api := APIName(item.API)
		if item.Provider == "" {
			d.Disabled.Apis[api] = item
		} else {
			d.Disabled.Providers[[2]string{api, item.Provider}] = item
		}
	}
	d.Index.Entries = make([]*Provider, 0, 64)
	all := d.Section(d.Root, "providers", d.ReleaseDefault())
	for i := 0; i+1 < len(all.Content); i += 2 {
		api := all.Content[i].Value
		for _, node := range yamlnode.Items(all.Content[i+1]) {
			d.Index.Add(d.baseEntry(api, node))
		}
	}
}

func (d *Draft) baseEntry(api string, node *yaml.Node) *Provider {
	e := &Provider{API: api, Node: node, Text: yamlnode.Text(node, "provider_id"), ProviderType: yamlnode.Text(node, "provider_type")}
	e.ID, e.Condition = envref.Static(e.Text)
	e.Enabled = e.ID != "" && e.ID != DisabledID && d.Met(e.Condition)
	e.Kind, _ = d.Release.Provider(api, e.ProviderType)
	return e
}

// disabledID is the id that makes the server skip a provider.
const DisabledID = "__disabled__"
