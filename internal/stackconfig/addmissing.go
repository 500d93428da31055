package stackconfig

import (
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/check"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/draft"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/provider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/schema"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/storage"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/yamlnode"
)

// addMissing adds the APIs that the base needs to start and that the user did not disable. Not every shipped
// configuration starts, and a user's provider may need an API that a small base does not have. addMissing warns of each
// API that it adds.
func addMissing(d *draft.Draft) {
	storage.AddRequired(d)
	// An added API may have requirements of its own. A chain of them cannot be longer than the number of APIs.
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

// addAPI adds an API: an empty list where that is enough, otherwise a provider that needs no values from the user.
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
	node := yamlnode.Map()
	e := &draft.Provider{
		API: m.API, ID: kind.Short(), Text: kind.Short(), Enabled: true, ProviderType: kind.Type,
		Node: node, Kind: kind,
	}
	d.Write(draft.Under(node, "provider_id"), yamlnode.String(e.ID), origin)
	d.Write(draft.Under(node, "provider_type"), yamlnode.String(kind.Type), origin)
	config := yamlnode.Map()
	for _, needed := range kind.Defaults(e.ID, d.Distribution) {
		d.Write(draft.Under(config, needed.Key), provider.Node(needed.Value), d.ReleaseDefault())
	}
	if len(config.Content) > 0 {
		d.Write(draft.Under(node, "config"), config, origin)
	}
	d.Write(draft.EndOf(d.List(all, m.API, origin)), node, origin)
	d.Index.Add(e)
	d.ServeAPI(m.API, origin)
	d.Warn(draft.Finding{ConfigPath: "providers." + m.API, Message: "the distribution's configuration has no provider of the API " +
		draft.APIField(m.API) + ", which " + m.Names() + " needs to start; the operator added " + kind.Type})
	return true
}

// selfContained returns the first inline type of an API whose required keys all have a working value.
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
