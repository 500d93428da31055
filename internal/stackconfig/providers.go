package stackconfig

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/internal/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/provider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/yamlnode"
)

// providers puts the user's providers into the configuration (FR-021): over the
// base's provider of the same id in its place, else behind the others of its
// API. What the user disabled is left out; the step disable tells.
func providers(d *draft) {
	for i := range d.in.Providers {
		p := &d.in.Providers[i]
		if d.off.has(p.API, p.ID) || !d.hasAPI(p) {
			continue
		}
		kind, ok := d.providerType(p)
		if !ok {
			continue
		}
		d.overlay(p, kind)
		d.serve(p.API, from(p.Path))
	}
}

// hasAPI says whether providers of an API can be configured in this release.
func (d *draft) hasAPI(p *intent.Provider) bool {
	api, known := d.rel.API(p.API)
	if known && api.Providable {
		return true
	}
	d.failf(p.Path, "the server release %s has no API %q to configure%s", d.rel.Line, apiField(p.API), d.otherRelease(p.API))
	return false
}

// providerType is the type a user means: a full one as it is, a bare name with
// the prefix that exists in this release (FR-030, API.md 4.1).
func (d *draft) providerType(p *intent.Provider) (*provider.Type, bool) {
	kind, ok := d.rel.ResolveType(p.API, p.Type)
	if ok && kind.Broken != "" {
		d.fail(field.Invalid(p.Path.Child("provider"), p.Type,
			fmt.Sprintf("%s does not start in the server release %s; %s", kind.Type, d.rel.Line, kind.Broken)))
		return nil, false
	}
	if ok {
		if kind.Deprecated != "" {
			d.warnf(p.Path.Child("provider"), "%s is deprecated by the server: %s", kind.Type, kind.Deprecated)
		}
		return kind, true
	}
	d.fail(field.Invalid(p.Path.Child("provider"), p.Type,
		fmt.Sprintf("%q is not a type of %s provider in release %s%s", p.Type, apiField(p.API), d.rel.Line, d.meantType(p))))
	return nil, false
}

// meantType says what to do about a type that the release does not have: what took its place, which releases have it, or
// what it may have been meant to be.
func (d *draft) meantType(p *intent.Provider) string {
	for _, prefix := range []string{"", provider.Remote, provider.Inline} {
		if gone := d.gone("provider", p.API+"/"+prefix+p.Type); gone != "" {
			return gone
		}
	}
	if lines := release.LinesWith(p.API, p.Type); len(lines) > 0 {
		return "; releases that have it: " + strings.Join(lines, ", ")
	}
	for _, api := range d.rel.APIs() {
		if kind, ok := d.rel.ResolveType(api, p.Type); ok {
			return fmt.Sprintf("; %s is a type of %s provider", kind.Type, apiField(api))
		}
	}
	if nearest := d.rel.NearestType(p.API, p.Type); nearest != "" {
		return fmt.Sprintf("; did you mean %q?", nearest)
	}
	if nearest := release.NearestTypeOfAny(p.API, p.Type); nearest != "" {
		return fmt.Sprintf("; %q is one in releases %s", nearest, strings.Join(release.LinesWith(p.API, nearest), ", "))
	}
	return "; known are " + strings.Join(d.rel.ProviderTypes(p.API), ", ")
}

// overlay writes one provider.
func (d *draft) overlay(p *intent.Provider, kind *provider.Type) {
	replaced := d.index.find(p.API, p.ID)
	node := yamlnode.Map()
	origin := from(p.Path)
	e := &entry{
		api: p.API, id: p.ID, text: p.ID, enabled: true, providerType: kind.Type, node: node, user: p, kind: kind,
	}
	d.write(under(node, "provider_id"), yamlnode.String(p.ID), from(p.Path.Child("id")))
	d.write(under(node, "provider_type"), yamlnode.String(kind.Type), from(p.Path.Child("provider")))
	if config := d.providerConfig(e, replaced); len(config.Content) > 0 {
		d.write(under(node, "config"), config, origin)
	}
	list := d.list(yamlnode.Get(d.root, "providers"), p.API, origin)
	if replaced == nil {
		d.write(endOf(list), node, origin)
		d.index.add(e)
		return
	}
	for i, item := range list.Content {
		if item == replaced.node {
			d.write(itemOf(list, i), node, origin)
		}
	}
	*replaced = *e
}

// providerConfig is the config of a user's provider: endpoint, credential,
// secrets and settings in the keys of its type, then what the type needs and the
// user cannot know.
func (d *draft) providerConfig(e *entry, replaced *entry) *yaml.Node {
	c := configWriter{draft: d, entry: e, kind: e.kind, config: yamlnode.FieldsOf(yamlnode.Map()), setBy: map[string]*field.Path{}}
	before := d.errorCount()
	c.endpoint()
	c.credential()
	c.secrets()
	c.settings()
	base := c.baseConfig(replaced)
	c.connection(base)
	c.defaults(base)
	e.incomplete = d.errorCount() > before
	return c.config.Mapping()
}
