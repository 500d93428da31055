package check

import (
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/draft"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/yamlnode"
)

// External checks the external providers in a configuration of the user's own, of which nothing else keeps the server from
// being started.
func External(d *draft.Draft) {
	c := checker{Draft: d, Finder: draft.NewFinder(d)}
	for path, e := range c.eachProvider {
		config := yamlnode.Get(e.Node, "config")
		if e.External == nil {
			continue
		}
		if config != nil && !c.Intent.MoreVariables {
			c.variablesOf(config, path+".config")
		}
		if e.Kind != nil {
			c.providerConfig(e, path+".config")
		}
	}
}
