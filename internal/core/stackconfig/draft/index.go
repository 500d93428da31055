package draft

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/provider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
)

// Provider is one provider in the configuration.
type Provider struct {
	API string
	// ID is the ID of the provider when its condition is met: ${env.VLLM_URL:+vllm} results in vllm.
	ID string
	// Text is the ID as written in the configuration.
	Text string
	// Condition is the variable without which the provider does not exist.
	Condition string
	// Enabled reports whether the provider exists when only the variables that the spec sets are set.
	Enabled bool
	// ProviderType is the full type, such as remote::vllm.
	ProviderType string
	Node         *yaml.Node
	// User is the provider in the spec. Nil means that the provider is not from spec.providers.
	User *intent.Provider
	// External is the external provider in the spec. Nil means that the provider is not from spec.externalProviders.
	External *intent.ExternalProvider
	// Kind holds the facts about the type, from the release or from the external provider's package. Nil means that no
	// facts are known.
	Kind *provider.Type
	// Incomplete reports whether a field that the user set was invalid, so that its key is missing.
	Incomplete bool
}

// Path returns the spec field that contains the provider, or nil for a provider from the base.
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

// Index holds the providers in the order of the configuration. Change it only with Add and Remove, so that Of, Find and
// All return the correct providers.
type Index struct {
	Providers []*Provider
	// paths caches the paths of the providers. It is empty until All needs them, and after a change.
	paths []string
	byAPI map[string][]*Provider
	byID  map[[2]string]*Provider
}

// Add adds a provider after the others.
func (x *Index) Add(e *Provider) {
	if x.byID == nil {
		x.byAPI, x.byID = make(map[string][]*Provider), make(map[[2]string]*Provider)
	}
	x.Providers, x.paths = append(x.Providers, e), nil
	x.addKeys(e)
}

func (x *Index) addKeys(e *Provider) {
	x.byAPI[e.API] = append(x.byAPI[e.API], e)
	if key := [2]string{e.API, e.ID}; x.byID[key] == nil {
		x.byID[key] = e
	}
}

// Remove removes the providers for which the function `gone` returns true.
func (x *Index) Remove(gone func(*Provider) bool) {
	x.Providers, x.paths = slices.DeleteFunc(x.Providers, gone), nil
	x.byAPI, x.byID = make(map[string][]*Provider), make(map[[2]string]*Provider)
	for _, e := range x.Providers {
		x.addKeys(e)
	}
}

// All iterates over the providers with their paths in the configuration, such as providers.inference[0].
func (x *Index) All(yield func(path string, e *Provider) bool) {
	if x.paths == nil {
		count := make(map[string]int)
		for _, e := range x.Providers {
			x.paths = append(x.paths, fmt.Sprintf("providers.%s[%d]", e.API, count[e.API]))
			count[e.API]++
		}
	}
	for i, path := range x.paths {
		if !yield(path, x.Providers[i]) {
			return
		}
	}
}

// Of returns the providers of an API.
func (x *Index) Of(api string) []*Provider { return x.byAPI[api] }

// Find returns the first provider of an API that has the given ID, or nil when there is none or the ID is empty.
func (x *Index) Find(api, id string) *Provider {
	if id == "" {
		return nil
	}
	return x.byID[[2]string{api, id}]
}

// Disabled holds the APIs and providers that the user disabled. Its keys contain the server's name for the API.
type Disabled struct {
	APIs      map[string]*intent.Disabled
	Providers map[[2]string]*intent.Disabled
	// Dependents is the set of the providers that the user did not disable by name, but that need a disabled API or
	// provider.
	Dependents map[[2]string]bool
}

// Has reports whether a provider is disabled.
func (x *Disabled) Has(api, id string) bool { return x.By(api, id) != nil }

// By returns the entry in spec.disabled that disables a provider, or nil when there is none.
func (x *Disabled) By(api, id string) *intent.Disabled {
	if item := x.APIs[api]; item != nil {
		return item
	}
	return x.Providers[[2]string{api, id}]
}

// Of returns the entry that disables an API. Without such an entry, it returns the first entry that disables one of the
// API's providers, or nil.
func (x *Disabled) Of(api string) *intent.Disabled {
	first := x.APIs[api]
	for key, item := range x.Providers {
		if key[0] == api && (first == nil || item.Path.String() < first.Path.String()) && x.APIs[api] == nil {
			first = item
		}
	}
	return first
}

// Gone reports whether a provider from the base was removed, because the user disabled it or because
// spec.distribution.baseProviders removed it.
func (d *Draft) Gone(api, id string) bool {
	return d.Disabled.Has(api, id) || d.Dropped[[2]string{api, id}]
}

// Resolve indexes the providers in the base by API and ID, and determines which of them the user disabled. It resolves
// conditional IDs first, because IDs are compared in their resolved form.
func Resolve(d *Draft) {
	d.Disabled = Disabled{APIs: map[string]*intent.Disabled{}, Providers: map[[2]string]*intent.Disabled{}}
	for i := range d.Intent.Disabled {
		item := &d.Intent.Disabled[i]
		switch api := APIName(item.API); item.Provider {
		case "":
			d.Disabled.APIs[api] = item
		case intent.Wildcard:
		default:
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
	d.expandWildcards()
}

// expandWildcards disables the base's providers that a wildcard in spec.disabled selects: those providers of the
// wildcard's API that the spec does not declare and that no other entry names. It warns about a wildcard that selects
// no provider.
func (d *Draft) expandWildcards() {
	for i := range d.Intent.Disabled {
		item := &d.Intent.Disabled[i]
		if item.Provider != intent.Wildcard {
			continue
		}
		api, matches := APIName(item.API), false
		for _, e := range d.Index.Of(api) {
			if e.ID == "" || e.ID == DisabledID || d.Intent.Declares(api, e.ID) {
				continue
			}
			matches = true
			if key := [2]string{api, e.ID}; d.Disabled.Providers[key] == nil {
				d.Disabled.Providers[key] = item
			}
		}
		if known, ok := d.Release.API(api); ok && known.Providable && !matches {
			d.Warnf(item.Path, "this entry has no effect, because the base has no %s providers other than those that the spec declares; remove the entry", APIField(api))
		}
	}
}

func (d *Draft) baseProvider(api string, node *yaml.Node) *Provider {
	e := &Provider{
		API: api, Node: node, Text: yamlnode.Text(node, "provider_id"),
		ProviderType: yamlnode.Text(node, "provider_type"),
	}
	e.ID, e.Condition = envref.Static(e.Text)
	e.Enabled = e.ID != "" && e.ID != DisabledID && d.Met(e.Condition)
	e.Kind, _ = d.Release.Provider(api, e.ProviderType)
	return e
}

// DisabledID is the ID of a provider that the server skips (server fact 7).
const DisabledID = "__disabled__"
