package stackconfig

import (
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/provider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/schema"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/yamlnode"
)

// supply adds what the base lacks to start and nobody disabled: not every
// shipped configuration starts (SERVER.md fact 14), and a user's provider may
// need an API that a small base does not have. It says what it added.
func supply(d *draft) {
	d.requiredStores()
	// What is added may need something itself; no chain is longer than the APIs.
	for range d.rel.APIs() {
		missing := d.missingAPIs()
		added := false
		for _, m := range missing {
			if d.off.of(m.api) == nil && d.add(m) {
				added = true
			}
		}
		if !added {
			return
		}
	}
}

// add adds an API: an empty list where that is enough, else a provider that needs
// nothing the user would have to know.
func (d *draft) add(m missing) bool {
	origin := Origin{Note: "needed by " + m.names()}
	all := yamlnode.Get(d.root, "providers")
	if known, _ := d.rel.API(m.api); known.RoutingTable != "" {
		if yamlnode.IsNull(yamlnode.Get(all, m.api)) {
			d.write(under(all, m.api), yamlnode.Seq(), origin)
		}
		d.serve(m.api, origin)
		return true
	}
	kind := d.selfContained(m.api)
	if kind == nil {
		return false
	}
	node := yamlnode.Map()
	e := &entry{api: m.api, id: kind.Short(), text: kind.Short(), enabled: true, providerType: kind.Type, node: node, kind: kind}
	d.write(under(node, "provider_id"), yamlnode.String(e.id), origin)
	d.write(under(node, "provider_type"), yamlnode.String(kind.Type), origin)
	config := yamlnode.Map()
	for _, needed := range kind.Defaults(e.id, d.distribution) {
		d.write(under(config, needed.Key), provider.Node(needed.Value), d.releaseDefault())
	}
	if len(config.Content) > 0 {
		d.write(under(node, "config"), config, origin)
	}
	d.write(endOf(d.list(all, m.api, origin)), node, origin)
	d.index.add(e)
	d.serve(m.api, origin)
	d.warn(Finding{ConfigPath: "providers." + m.api, Message: "the distribution's configuration has no provider of the API " +
		apiField(m.api) + ", which " + m.names() + " needs to start; added " + kind.Type})
	return true
}

// selfContained is the first inline type of an API all of whose required keys
// have a working value.
func (d *draft) selfContained(api string) *provider.Type {
	for _, name := range d.rel.ProviderTypes(api) {
		kind, _ := d.rel.Provider(api, name)
		if kind.IsRemote() || kind.Deprecated != "" || kind.Broken != "" {
			continue
		}
		config := yamlnode.Map()
		for _, needed := range kind.Defaults(kind.Short(), d.distribution) {
			yamlnode.Set(config, needed.Key, provider.Node(needed.Value))
		}
		if !schema.AnyFatal(kind.Config.Check(config)) {
			return kind
		}
	}
	return nil
}
