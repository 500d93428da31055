package draft

import (
	"slices"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/internal/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/provider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/yamlnode"
)

// Provider is one provider in the configuration.
type Provider struct {
	API string
	// ID is what the id of the base becomes when its condition holds:
	// ${env.VLLM_URL:+vllm} is vllm.
	ID string
	// Text is the id as it stands in the configuration.
	Text string
	// Condition is the variable without which the provider does not exist.
	Condition string
	// Enabled says that the provider exists as far as the spec tells.
	Enabled bool
	// ProviderType is the full type: remote::vllm.
	ProviderType string
	Node         *yaml.Node
	// User is the user's provider, nil for one of the base.
	User *intent.Provider
	// External is the external provider, nil for any other.
	External *intent.ExternalProvider
	// Kind is what the release knows of the type, or what an external provider's package says of it. Nil: neither does.
	Kind *provider.Type
	// Incomplete says that a field of the user's was wrong and its key is missing.
	Incomplete bool
}

// Path is the field that asked for the provider, nil for one of the base.
func (e *Provider) Path() *field.Path {
	switch {
	case e.User != nil:
		return e.User.Path
	case e.External != nil:
		return e.External.Path
	default:
		return nil
	}
}

// Index holds the providers in the order of the configuration. They come in by Add
// and go by Remove, so that they are found by API and id.
type Index struct {
	Providers []*Provider
	byAPI     map[string][]*Provider
	byID      map[[2]string]*Provider
}

// Add adds a provider behind the others.
func (x *Index) Add(e *Provider) {
	if x.byID == nil {
		x.byAPI, x.byID = make(map[string][]*Provider), make(map[[2]string]*Provider)
	}
	x.Providers = append(x.Providers, e)
	x.addKeys(e)
}

func (x *Index) addKeys(e *Provider) {
	x.byAPI[e.API] = append(x.byAPI[e.API], e)
	if key := [2]string{e.API, e.ID}; x.byID[key] == nil {
		x.byID[key] = e
	}
}

// Remove takes providers away.
func (x *Index) Remove(gone func(*Provider) bool) {
	x.Providers = slices.DeleteFunc(x.Providers, gone)
	x.byAPI, x.byID = make(map[string][]*Provider), make(map[[2]string]*Provider)
	for _, e := range x.Providers {
		x.addKeys(e)
	}
}

// Of are the providers of an API.
func (x *Index) Of(api string) []*Provider { return x.byAPI[api] }

// Find is the provider of an API with an id, nil without one.
func (x *Index) Find(api, id string) *Provider {
	if id == "" {
		return nil
	}
	return x.byID[[2]string{api, id}]
}

// Disabled is what the user takes away, by API in the server's spelling.
type Disabled struct {
	APIs      map[string]*intent.Disabled
	Providers map[[2]string]*intent.Disabled
	// Dependents are the keys of providers that nobody named: they need what is disabled.
	Dependents map[[2]string]bool
}

// Has reports whether a provider is taken away.
func (x *Disabled) Has(api, id string) bool { return x.By(api, id) != nil }

// By is the entry of spec.disabled that takes a provider away, nil when none does.
func (x *Disabled) By(api, id string) *intent.Disabled {
	if item := x.APIs[api]; item != nil {
		return item
	}
	return x.Providers[[2]string{api, id}]
}

// Of is the entry that takes an API away, or the first that takes one of its providers; nil when none does.
func (x *Disabled) Of(api string) *intent.Disabled {
	first := x.APIs[api]
	for key, item := range x.Providers {
		if key[0] == api && (first == nil || item.Path.String() < first.Path.String()) && x.APIs[api] == nil {
			first = item
		}
	}
	return first
}

// Resolve finds out what the base has: its providers by API and id, with
// conditional ids resolved (ids are compared after that), and what
// of it the user does not want.
func Resolve(d *Draft) {
	d.Disabled = Disabled{APIs: map[string]*intent.Disabled{}, Providers: map[[2]string]*intent.Disabled{}}
	for i := range d.Intent.Disabled {
		item := &d.Intent.Disabled[i]
		api := APIName(item.API)
		if item.Provider == "" {
			d.Disabled.APIs[api] = item
		} else {
			d.Disabled.Providers[[2]string{api, item.Provider}] = item
		}
	}
	d.Index.Providers = make([]*Provider, 0, 64)
	all := d.Section(d.Root, "providers", d.ReleaseDefault())
	for i := 0; i+1 < len(all.Content); i += 2 {
		api := all.Content[i].Value
		for _, node := range yamlnode.Items(all.Content[i+1]) {
			d.Index.Add(d.baseProvider(api, node))
		}
	}
}

func (d *Draft) baseProvider(api string, node *yaml.Node) *Provider {
	e := &Provider{API: api, Node: node, Text: yamlnode.Text(node, "provider_id"), ProviderType: yamlnode.Text(node, "provider_type")}
	e.ID, e.Condition = envref.Static(e.Text)
	e.Enabled = e.ID != "" && e.ID != DisabledID && d.Met(e.Condition)
	e.Kind, _ = d.Release.Provider(api, e.ProviderType)
	return e
}

// DisabledID is the id that makes the server skip a provider.
const DisabledID = "__disabled__"
