package stackconfig

import (
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/check"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/draft"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/provider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/schema"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
)

// addAPIs adds the APIs that providers need and that the user did not disable, and warns about the providers that it
// adds. The server does not start with some of the shipped configurations, and a user's provider may need an API that a
// small base does not have.
func addAPIs(d *draft.Draft) {
	// An added API may require further APIs. A chain of requirements cannot be longer than the number of APIs.
	for range d.Release.APIs() {
		missing := check.MissingAPIs(d)
		added := false
		for _, m := range missing {
			if d.Disabled.Of(m.API) == nil && addAPI(d, m) {
				added = true
			}
		}
		if !added {
			return
		}
	}
}

// addAPI adds an API. An API with a routing table starts without providers, so addAPI adds at most an empty list of
// providers. For any other API, addAPI adds a provider that needs no values. It returns false when the API has no such
// provider.
func addAPI(d *draft.Draft, m check.Missing) bool {
	origin := draft.Origin{Note: "needed by " + m.Names()}
	all := yamlnode.Get(d.Root, "providers")
	if known, _ := d.Release.API(m.API); known.RoutingTable != "" {
		if yamlnode.IsNull(yamlnode.Get(all, m.API)) {
			d.Write(draft.Under(all, m.API), yamlnode.Seq(), origin)
		}
		d.ServeAPI(m.API, origin)
		return true
	}
	kind := selfContained(d, m.API)
	if kind == nil {
		return false
	}
	e := &draft.Provider{
		API: m.API, ID: kind.Short(), Text: kind.Short(), Enabled: true, ProviderType: kind.Type,
		Node: yamlnode.Map(), Kind: kind,
	}
	writeDefaults(d, e, origin)
	d.Write(draft.EndOf(d.List(all, m.API, origin)), e.Node, origin)
	d.Index.Add(e)
	d.ServeAPI(m.API, origin)
	d.Warn(draft.Finding{ConfigPath: "providers." + m.API, Message: "the base has no provider of the API " +
		draft.APIField(m.API) + ", and " + m.Names() + " cannot start without this API; the operator added " + kind.Type +
		"; to use another provider, add it to spec.providers." + draft.APIField(m.API)})
	return true
}

// writeDefaults writes a provider with the default values of its type.
func writeDefaults(d *draft.Draft, e *draft.Provider, origin draft.Origin) {
	d.Write(draft.Under(e.Node, "provider_id"), yamlnode.String(e.ID), origin)
	d.Write(draft.Under(e.Node, "provider_type"), yamlnode.String(e.ProviderType), origin)
	config := yamlnode.Map()
	for _, needed := range e.Kind.Defaults(e.ID, d.Distribution) {
		d.Write(draft.Under(config, needed.Key), provider.Node(needed.Value), d.ReleaseDefault())
	}
	if len(config.Content) > 0 {
		d.Write(draft.Under(e.Node, "config"), config, origin)
	}
}

// selfContained returns the first inline type of an API that starts with only the default values of its required keys
// and is neither deprecated nor broken. It returns nil when the API has no such type.
func selfContained(d *draft.Draft, api string) *provider.Type {
	for _, name := range d.Release.ProviderTypes(api) {
		kind, _ := d.Release.Provider(api, name)
		if kind.IsRemote() || kind.Deprecated != "" || kind.Broken != "" {
			continue
		}
		config := yamlnode.Map()
		for _, needed := range kind.Defaults(kind.Short(), d.Distribution) {
			yamlnode.Set(config, needed.Key, provider.Node(needed.Value))
		}
		if !schema.AnyFatal(kind.Config.Check(config)) {
			return kind
		}
	}
	return nil
}
