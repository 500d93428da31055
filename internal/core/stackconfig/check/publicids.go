package check

import (
	"cmp"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/draft"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
)

// publicIDs reports models that have the same ID for clients. From 0.3 to 0.7, the ID of a model is the provider's name
// for it, so two entries for the same model of a provider have the same ID (server fact 18). The server does not start
// when such entries differ ("already exists").
func (c *checker) publicIDs(known release.Resource) {
	if known.ListedAgain {
		c.listedAgain(known)
		return
	}
	first := make(map[string]int)
	items := yamlnode.Items(c.ResourcesOf(known))
	for i, item := range items {
		id, ok := c.publicID(known, item)
		if !ok {
			continue
		}
		other, taken := first[id]
		if !taken {
			first[id] = i
			continue
		}
		if !yamlnode.Equal(withoutIDs(known, items[other]), withoutIDs(known, item)) {
			c.sameID(id, draft.ItemPath(known, i), draft.ItemPath(known, other))
		}
	}
}

// sameID reports an entry that differs from another one with the same ID. The server of 0.2, which has another registry
// (server fact 22), starts with both.
func (c *checker) sameID(id, path, other string) {
	both := fmt.Sprintf("clients use the name %q for this entry and for %s", id, c.writtenAt(other))
	if c.Release.Registry.KeyPrefix == "" {
		if at := c.OriginAt(path).Path; at != nil {
			c.Warnf(at, "%s; server release %s registers only one of them; keep one of them", both, c.Release.Line)
		}
		return
	}
	c.failAt(path, func() string {
		return fmt.Sprintf("%s; server release %s does not start when the two entries differ; keep one of them", both, c.Release.Line)
	})
}

// listedAgain reports entries whose name the provider lists for a model that belongs to another entry. The server
// remembers only the last entry of each model, registers the listed name again, and does not start (server fact 18).
func (c *checker) listedAgain(known release.Resource) {
	items := yamlnode.Items(c.ResourcesOf(known))
	last, elsewhere := make(map[[2]string]int), make(map[string]int)
	for i := range items {
		if m := c.modelAt(known, items[i]); m.provider != known.AnyProvider {
			last[[2]string{m.provider, m.own}], elsewhere[m.own] = i, i
		}
	}
	for i := range items {
		m := c.modelAt(known, items[i])
		listed, prefixed := strings.CutPrefix(m.public, m.provider+"/")
		e := c.Index.Find(known.API, m.provider)
		if !prefixed || e == nil || e.Kind != nil && !e.Kind.Lists.MayAny(listed) {
			continue
		}
		other, taken := last[[2]string{m.provider, listed}]
		sure := taken && e.Kind != nil && e.External == nil
		if !taken {
			other, taken = elsewhere[listed]
		}
		if !taken || other == i {
			continue
		}
		c.listedTwice(draft.ItemPath(known, i), draft.ItemPath(known, other), m, m.own == listed, sure)
	}
}

// listedTwice reports an entry whose name is also the provider's name for the model of another entry.
func (c *checker) listedTwice(path, other string, m publicModel, own, sure bool) {
	message := func(lists string) string {
		remedy := "use another name for this entry"
		if own {
			remedy = "write this entry after the other one, or keep one of them"
		}
		return fmt.Sprintf("%s the name %q, for the model of %s; with both, server release %s does not start; %s",
			lists, m.public, c.writtenAt(other), c.Release.Line, remedy)
	}
	switch {
	case sure:
		c.failAt(path, func() string { return message("the provider also lists") })
	case c.OriginAt(path).Path != nil:
		c.Warnf(c.OriginAt(path).Path, "%s", message("the provider might also list"))
	}
}

// publicModel is an entry: the ID that clients use, the provider, and the provider's name for the model.
type publicModel struct{ public, provider, own string }

// modelAt returns an entry. It returns an empty one if the server does not register it, or if its ID is unknown.
func (c *checker) modelAt(known release.Resource, item *yaml.Node) publicModel {
	public, ok := c.publicID(known, item)
	if !ok {
		return publicModel{}
	}
	provider, _ := envref.Static(yamlnode.Text(item, "provider_id"))
	id, _ := envref.Static(yamlnode.Text(item, known.IDKey))
	return publicModel{public: public, provider: provider, own: cmp.Or(yamlnode.Text(item, known.ProviderIDKey), id)}
}

// publicID returns the ID that clients use for an entry. It returns false when the kind of resource has no PublicID,
// when the server does not register the entry, or when the ID is unknown before the server starts.
func (c *checker) publicID(known release.Resource, item *yaml.Node) (string, bool) {
	id, _ := envref.Static(yamlnode.Text(item, known.IDKey))
	provider, _ := envref.Static(yamlnode.Text(item, "provider_id"))
	own := yamlnode.Text(item, known.ProviderIDKey)
	if known.PublicID == "" || !c.Registers(known, item) || strings.Contains(id+provider+own, "${") {
		return "", false
	}
	return known.Public(id, provider, own), true
}

func withoutIDs(known release.Resource, item *yaml.Node) *yaml.Node {
	rest := yamlnode.Clone(item)
	for _, key := range []string{known.IDKey, known.ProviderIDKey, "provider_id"} {
		yamlnode.Remove(rest, key)
	}
	return rest
}

// writtenAt returns the field that wrote a value in the configuration, or the path of a value from the base.
func (c *checker) writtenAt(path string) string {
	if origin := c.OriginAt(path); origin.Path != nil {
		return origin.Path.String()
	}
	return path
}
