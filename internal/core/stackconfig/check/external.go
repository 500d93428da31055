package check

import (
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/draft"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
)

// External checks the external providers in a user's own configuration. It does not check the rest of that
// configuration, for which Override only warns about problems.
func External(d *draft.Draft) {
	c := checker{Draft: d, Finder: draft.NewFinder(d)}
	for path, e := range c.Index.All {
		config := yamlnode.Get(e.Node, "config")
		if e.External == nil {
			continue
		}
		if config != nil && !c.Intent.MoreVariables {
			c.variablesOf(config, new(yamlnode.Path).Key(path+".config"))
		}
		if e.Kind != nil {
			c.providerConfig(e, path+".config")
		}
	}
}
