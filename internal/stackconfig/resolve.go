package stackconfig

import (
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/provider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/yamlnode"
)

// entry is one provider in the configuration.
type entry struct {
	api string
	// id is what the id of the base becomes when its condition holds:
	// ${env.VLLM_URL:+vllm} is vllm.
	id string
	// text is the id as it stands in the configuration.
	text string
	// condition is the variable without which the provider does not exist.
	condition string
	// enabled says that the provider exists as far as the spec tells.
	enabled bool
	// providerType is the full type: remote::vllm.
	providerType string
	node         *yaml.Node
	// user is the user's provider, nil for one of the base.
	user *intent.Provider
	// kind is what the release knows of the type, nil when it does not have it.
	kind *provider.Type
	// incomplete says that a field of the user's was wrong and its key is missing.
	incomplete bool
}

// index holds the providers in the order of the configuration. They come in by add
// and go by remove, so that they are found by API and id.
type index struct {
	entries []*entry
	byAPI   map[string][]*entry
	byID    map[[2]string]*entry
}

func (x *index) add(e *entry) {
	if x.byID == nil {
		x.byAPI, x.byID = make(map[string][]*entry), make(map[[2]string]*entry)
	}
	x.entries = append(x.entries, e)
	x.note(e)
}

func (x *index) note(e *entry) {
	x.byAPI[e.api] = append(x.byAPI[e.api], e)
	if key := [2]string{e.api, e.id}; x.byID[key] == nil {
		x.byID[key] = e
	}
}

func (x *index) remove(gone func(*entry) bool) {
	x.entries = slices.DeleteFunc(x.entries, gone)
	x.byAPI, x.byID = make(map[string][]*entry), make(map[[2]string]*entry)
	for _, e := range x.entries {
		x.note(e)
	}
}

// of are the providers of an API.
func (x *index) of(api string) []*entry { return x.byAPI[api] }

// find is the provider of an API with an id, nil without one.
func (x *index) find(api, id string) *entry {
	if id == "" {
		return nil
	}
	return x.byID[[2]string{api, id}]
}

// disabled is what the user takes away, by API in the server's spelling.
type disabled struct {
	apis      map[string]*intent.Disabled
	providers map[[2]string]*intent.Disabled
	// dependents are those of providers that nobody named: they need what is disabled.
	dependents map[[2]string]bool
}

func (x *disabled) has(api, id string) bool { return x.by(api, id) != nil }

// by is the entry of spec.disabled that takes a provider away, nil when none does.
func (x *disabled) by(api, id string) *intent.Disabled {
	if item := x.apis[api]; item != nil {
		return item
	}
	return x.providers[[2]string{api, id}]
}

// of is the entry that takes an API away, or the first that takes one of its providers; nil when none does.
func (x *disabled) of(api string) *intent.Disabled {
	first := x.apis[api]
	for key, item := range x.providers {
		if key[0] == api && (first == nil || item.Path.String() < first.Path.String()) && x.apis[api] == nil {
			first = item
		}
	}
	return first
}

// resolve finds out what the base has: its providers by API and id, with
// conditional ids resolved (API.md 4.3: ids are compared after that), and what
// of it the user does not want.
func resolve(d *draft) {
	d.off = disabled{apis: map[string]*intent.Disabled{}, providers: map[[2]string]*intent.Disabled{}}
	for i := range d.in.Disabled {
		item := &d.in.Disabled[i]
		api := apiName(item.API)
		if item.Provider == "" {
			d.off.apis[api] = item
		} else {
			d.off.providers[[2]string{api, item.Provider}] = item
		}
	}
	d.index.entries = make([]*entry, 0, 64)
	all := d.section(d.root, "providers", d.releaseDefault())
	for i := 0; i+1 < len(all.Content); i += 2 {
		api := all.Content[i].Value
		for _, node := range yamlnode.Items(all.Content[i+1]) {
			d.index.add(d.baseEntry(api, node))
		}
	}
}

func (d *draft) baseEntry(api string, node *yaml.Node) *entry {
	e := &entry{api: api, node: node, text: yamlnode.Text(node, "provider_id"), providerType: yamlnode.Text(node, "provider_type")}
	e.id, e.condition = envref.Static(e.text)
	e.enabled = e.id != "" && e.id != disabledID && d.met(e.condition)
	e.kind, _ = d.rel.Provider(api, e.providerType)
	return e
}

// disabledID is the id that makes the server skip a provider.
const disabledID = "__disabled__"
