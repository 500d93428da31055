package providers

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/draft"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/provider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
)

// Apply writes the user's providers into the configuration (FR-021). A provider replaces the base's provider with the
// same API and ID, or the base's provider of an API for which the server uses only one provider. If the base has no
// such provider, Apply adds the user's provider after the other providers of its API. Apply omits providers that the
// user disabled or that an external provider replaces. The `disable` and `external` steps report them.
func Apply(d *draft.Draft) {
	for i := range d.Intent.Providers {
		p := &d.Intent.Providers[i]
		if d.Disabled.Has(p.API, p.ID) || d.Intent.ExternalWith(p.API, p.ID) != nil || !HasAPI(d, p.API, p.Path) {
			continue
		}
		kind, ok := providerType(d, p)
		if !ok {
			continue
		}
		overlay(d, p, kind)
		d.ServeAPI(p.API, draft.From(p.Path))
	}
}

// HasAPI reports whether providers of an API can be configured in this release. If they cannot, HasAPI reports an error
// at `path`, which is the field with the provider.
func HasAPI(d *draft.Draft, name string, path *field.Path) bool {
	api, known := d.Release.API(name)
	if known && api.Providable {
		return true
	}
	d.Failf(path, "server release %s has no configurable API %q%s", d.Release.Line, draft.APIField(name), d.OtherRelease(name))
	return false
}

// providerType returns the type that the user specified with a full type or a short name. For a short name,
// providerType adds the prefix that the type has in this release (FR-030). For an unknown type, and for a type with
// which the server does not start, it reports an error and returns false.
func providerType(d *draft.Draft, p *intent.Provider) (*provider.Type, bool) {
	kind, ok := d.Release.ResolveType(p.API, p.Type)
	if ok && kind.Broken != "" {
		d.Fail(field.Invalid(p.Path.Child("provider"), p.Type,
			fmt.Sprintf("%s does not start in server release %s; %s", kind.Type, d.Release.Line, kind.Broken)))
		return nil, false
	}
	if ok {
		if kind.Deprecated != "" {
			d.Warnf(p.Path.Child("provider"), "%s is deprecated by the server: %s", kind.Type, kind.Deprecated)
		}
		return kind, true
	}
	d.Fail(field.Invalid(p.Path.Child("provider"), p.Type,
		fmt.Sprintf("%q is not a type of %s provider in release %s%s", p.Type, draft.APIField(p.API), d.Release.Line, MeantType(d, p))))
	return nil, false
}

// MeantType returns the remedy for a type that the release does not have: its replacement, the releases that have it,
// the API that has it, the type with the most similar name, or the known types.
func MeantType(d *draft.Draft, p *intent.Provider) string {
	for _, prefix := range []string{"", provider.Remote, provider.Inline} {
		if gone := d.RemovalNote("provider", p.API+"/"+prefix+p.Type); gone != "" {
			return gone
		}
	}
	if kind, ok := d.Release.ResolveType(p.API, p.Type); ok { // a short name in a configuration
		return fmt.Sprintf("; did you mean %q?", kind.Type)
	}
	if lines := release.LinesWith(p.API, p.Type); len(lines) > 0 {
		return "; releases that have it: " + strings.Join(lines, ", ")
	}
	for _, api := range d.Release.APIs() {
		if kind, ok := d.Release.ResolveType(api, p.Type); ok {
			return fmt.Sprintf("; %s is a type of %s provider; move the entry to the API %s", kind.Type, draft.APIField(api), draft.APIField(api))
		}
	}
	if nearest := d.Release.NearestType(p.API, p.Type); nearest != "" {
		return fmt.Sprintf("; did you mean %q?", written(d.Release, p, nearest))
	}
	if nearest := release.NearestTypeOfAny(p.API, p.Type); nearest != "" {
		return fmt.Sprintf("; did you mean %q? releases that have this type: %s", nearest, strings.Join(release.LinesWith(p.API, nearest), ", "))
	}
	return "; known types: " + strings.Join(d.Release.ProviderTypes(p.API), ", ")
}

// written returns a type as users write it: in the spec with its short name, unless that selects another type, and in a
// configuration of their own, which has no path in the spec, in full.
func written(rel *release.Release, p *intent.Provider, kind string) string {
	_, short, _ := strings.Cut(kind, "::")
	if found, ok := rel.ResolveType(p.API, short); ok && found.Type == kind && p.Path != nil {
		return short
	}
	return kind
}

// overlay writes one of the user's providers into the configuration.
func overlay(d *draft.Draft, p *intent.Provider, kind *provider.Type) {
	replaced := replacedBy(d, p)
	node := yamlnode.Map()
	origin := draft.From(p.Path)
	e := &draft.Provider{
		API: p.API, ID: p.ID, Text: p.ID, Enabled: true, ProviderType: kind.Type, Node: node, User: p, Kind: kind,
	}
	d.Write(draft.Under(node, "provider_id"), yamlnode.String(p.ID), draft.From(p.Path.Child("id")))
	d.Write(draft.Under(node, "provider_type"), yamlnode.String(kind.Type), draft.From(p.Path.Child("provider")))
	if config := providerConfig(d, e, replaced); len(config.Content) > 0 {
		d.Write(draft.Under(node, "config"), config, origin)
	}
	list := d.List(yamlnode.Get(d.Root, "providers"), p.API, origin)
	if replaced == nil {
		d.Write(draft.EndOf(list), node, origin)
		d.Index.Add(e)
		return
	}
	for i, item := range list.Content {
		if item == replaced.Node {
			d.Write(draft.ItemOf(list, i), node, origin)
		}
	}
	if replaced.ID != e.ID { // it is the last provider of its API
		d.Index.Remove(func(other *draft.Provider) bool { return other == replaced })
		d.Index.Add(e)
		return
	}
	*replaced = *e
}

// replacedBy returns the base's provider that the user's provider replaces, or nil. If the server does not route the
// requests of an API to several providers, it uses only the last one (server fact 79).
func replacedBy(d *draft.Draft, p *intent.Provider) *draft.Provider {
	if same := d.Index.Find(p.API, p.ID); same != nil {
		return same
	}
	all := d.Index.Of(p.API)
	if api, known := d.Release.API(p.API); !known || api.RoutingTable != "" || len(all) == 0 {
		return nil
	}
	last := all[len(all)-1]
	if last.Path() != nil || d.Disabled.Has(last.API, last.ID) || d.Intent.Declares(last.API, last.ID) {
		return nil // another field of the spec decides about this provider
	}
	return last
}

// providerConfig returns the config of a user's provider: endpoint, credential, secrets and settings under the keys of
// its type, then the connection of the base's provider and the values that the type needs and the user did not set.
func providerConfig(d *draft.Draft, e *draft.Provider, replaced *draft.Provider) *yaml.Node {
	c := configWriter{
		Draft: d, entry: e, kind: e.Kind, config: yamlnode.FieldsOf(yamlnode.Map()),
		setBy: map[string]*field.Path{},
	}
	before := d.ErrorCount()
	c.endpoint()
	c.credential()
	c.secrets()
	c.settings()
	base := c.baseConfig(replaced)
	c.connection(base)
	c.defaults(base)
	e.Incomplete = d.ErrorCount() > before
	return c.config.Mapping()
}
