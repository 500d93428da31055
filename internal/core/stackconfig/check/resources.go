package check

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/draft"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/provider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
)

// registeredResources reports resources of unknown providers (server fact 17), and resources that their provider does
// not register. The server does not start with either kind of entry. registeredResources also reports repeated IDs (see
// publicIDs) and ignored lists (see warnDropped). registeredResources skips resources whose condition is not met.
func (c *checker) registeredResources() {
	for _, known := range c.Release.Resources() {
		if known.Dropped {
			c.warnDropped(known)
		}
		if known.API == "" || known.Dropped {
			continue
		}
		c.publicIDs(known)
		for i, item := range yamlnode.Items(c.ResourcesOf(known)) {
			text := yamlnode.Text(item, "provider_id")
			id, condition := envref.Static(text)
			if text == "" || id == draft.DisabledID || id == known.AnyProvider || !c.Met(condition) || envref.In(id) {
				continue
			}
			if e := c.Index.Find(known.API, id); e != nil {
				if key, problem := refusal(known, item, e.Kind); problem != "" {
					c.failAt(draft.ItemPath(known, i)+"."+key, func() string { return problem })
				}
				continue
			}
			c.failAt(draft.ItemPath(known, i)+".provider_id", func() string {
				return fmt.Sprintf("%q is not a provider of the API %s; available: %s", id, draft.APIField(known.API), c.available(known.API))
			})
		}
	}
}

// warnDropped warns about a list of resources that the server reads and does not use. Such a list comes from the base,
// because package resources rejects the user's resources of that kind.
func (c *checker) warnDropped(known release.Resource) {
	if yamlnode.Len(c.ResourcesOf(known)) > 0 {
		c.Warn(draft.Finding{ConfigPath: draft.JoinPath(known.Section, known.Kind), Message: fmt.Sprintf(
			"server release %s reads the base's %s and ignores them; %s", c.Release.Line, known.Kind, known.Instead)})
	}
}

// refusal returns the reason why the provider of a resource does not register it, and the key with the wrong value.
// With such a resource, the server does not start (server fact 60, server fact 72). Both results are empty when the
// provider accepts the resource, when no facts about the provider's type are known, or when the name of the resource is
// known only in the pod.
func refusal(known release.Resource, item *yaml.Node, kind *provider.Type) (key, problem string) {
	if kind == nil {
		return "", ""
	}
	if kind.RegistersNothing {
		return "provider_id", fmt.Sprintf("%s cannot register %s from a configuration, so the server does not start; remove the entry",
			kind.Type, known.Kind)
	}
	if key = kind.ResourceNeeds; key != "" && yamlnode.IsNull(yamlnode.Get(item, key)) {
		return known.IDKey, fmt.Sprintf("%s needs the address of a server for each entry of %s, and the server does not start without it; set mcpEndpoint",
			kind.Type, known.Kind)
	}
	key = known.ProviderIDKey
	if yamlnode.Text(item, key) == "" {
		key = known.IDKey
	}
	name := yamlnode.Text(item, key)
	if len(kind.ResourceIDs) == 0 || envref.In(name) || slices.Contains(kind.ResourceIDs, name) {
		return "", ""
	}
	return key, fmt.Sprintf("%q is not accepted by %s, so the server does not start; use one of %s", name, kind.Type,
		strings.Join(kind.ResourceIDs, ", "))
}
