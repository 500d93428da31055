package check

import (
	"fmt"

	"github.com/llamastack/llama-stack-k8s-operator/internal/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/draft"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/yamlnode"
)

// registeredResources reports resources of unknown providers, which stop the server (server fact 17). It skips
// resources whose condition is not met.
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
			if text == "" || id == draft.DisabledID || id == known.AnyProvider || !c.Met(condition) ||
				c.Index.Find(known.API, id) != nil || envref.In(id) {
				continue
			}
			c.failAt(draft.ItemPath(known, i)+".provider_id", func() string {
				return fmt.Sprintf("%q is not a provider of the API %s; available: %s", id, draft.APIField(known.API), c.available(known.API))
			})
		}
	}
}

// warnDropped warns of a list that the server reads and then empties. Such a list comes from the base, because the
// user's resources of that kind are rejected.
func (c *checker) warnDropped(known release.Resource) {
	if yamlnode.Len(c.ResourcesOf(known)) > 0 {
		c.Warn(draft.Finding{ConfigPath: draft.JoinPath(known.Section, known.Kind), Message: fmt.Sprintf(
			"the server release %s reads the base's %s and ignores them; %s", c.Release.Line, known.Kind, known.Instead)})
	}
}
