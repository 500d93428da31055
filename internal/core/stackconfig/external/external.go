package external

import (
	"fmt"
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/externalprovider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/credential"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/draft"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/providers"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
)

// Installed is an external provider in the configuration. Type and Module are empty when they are known only inside the
// provider's image.
type Installed struct {
	*intent.ExternalProvider
	Type, Module string
}

// Apply writes the external providers into the configuration (FR-090 to FR-092). An external provider replaces a
// provider with the same API and ID, with a warning. If no such provider exists, Apply adds the external provider after
// the other providers of its API. Apply omits the providers that the user disabled, because the `disable` step reports
// them. It also omits, with an error, the providers whose API does not exist or differs from the API in the image.
//
// The parameter `packages` holds the metadata of the images, keyed by provider ID. Apply returns the providers that the
// pods install.
func Apply(d *draft.Draft, packages map[string]*externalprovider.Package) []Installed {
	var installed []Installed
	for i := range d.Intent.External {
		p := &d.Intent.External[i]
		if d.Disabled.Has(p.API, p.ID) || !providers.HasAPI(d, p.API, p.Path) {
			continue
		}
		found := packages[p.ID]
		if found != nil && found.API != p.API {
			wrongAPI(d, p, found.API)
			continue
		}
		overlay(d, p, found)
		d.ServeAPI(p.API, draft.From(p.Path))
		one := Installed{ExternalProvider: p}
		if found != nil {
			one.Type, one.Module = found.Type, found.Module
		}
		installed = append(installed, one)
	}
	return installed
}

// wrongAPI reports an error for a provider whose API in the spec differs from the API in its image.
func wrongAPI(d *draft.Draft, p *intent.ExternalProvider, api string) {
	if !release.KnownAPI(api) {
		d.Failf(p.Path, "image %q contains a provider of the API %q, which no server release has: use another image, or correct the file %s in the image",
			p.Image, api, externalprovider.File)
		return
	}
	d.Failf(p.Path, "image %q contains a provider of the API %s: move this provider to spec.externalProviders.%s",
		p.Image, draft.APIField(api), draft.APIField(api))
}

// overlay writes one external provider into the configuration.
func overlay(d *draft.Draft, p *intent.ExternalProvider, found *externalprovider.Package) {
	e := &draft.Provider{
		API: p.API, ID: p.ID, Text: p.ID, Enabled: true, ProviderType: externalprovider.UnknownType, Node: yamlnode.Map(),
		External: p,
	}
	image := draft.From(p.Path.Child("image"))
	if found != nil {
		e.ProviderType, e.Kind = found.Type, kindOf(found)
	}
	d.Write(draft.Under(e.Node, "provider_id"), yamlnode.String(p.ID), draft.From(p.Path.Child("providerId")))
	d.Write(draft.Under(e.Node, "provider_type"), yamlnode.String(e.ProviderType), image)
	if found != nil {
		d.Write(draft.Under(e.Node, "module"), yamlnode.String(found.Module), image)
	}
	if config := config(d, e); len(config.Content) > 0 {
		d.Write(draft.Under(e.Node, "config"), config, draft.From(p.Path.Child("config")))
	}
	replaced := d.Index.Find(p.API, p.ID)
	warnOfOverride(d, e, replaced)
	place(d, e, replaced)
}

// place replaces another provider with an external provider, or adds the external provider after all others of its API.
func place(d *draft.Draft, e, replaced *draft.Provider) {
	origin := draft.From(e.External.Path)
	list := d.List(yamlnode.Get(d.Root, "providers"), e.API, origin)
	if replaced == nil {
		d.Write(draft.EndOf(list), e.Node, origin)
		d.Index.Add(e)
		return
	}
	d.Write(draft.ItemOf(list, slices.Index(list.Content, replaced.Node)), e.Node, origin)
	*replaced = *e
	// If several providers have the same ID, the server uses the last one (server fact 15).
	others := map[*yaml.Node]bool{}
	for _, other := range d.Index.Of(e.API) {
		others[other.Node] = other.ID == e.ID && other != replaced
	}
	list.Content = slices.DeleteFunc(list.Content, func(item *yaml.Node) bool { return others[item] })
	d.Index.Remove(func(other *draft.Provider) bool { return others[other.Node] })
}

// warnOfOverride warns that an external provider replaces another provider.
func warnOfOverride(d *draft.Draft, e, replaced *draft.Provider) {
	var text string
	own := slices.IndexFunc(d.Intent.Providers, func(p intent.Provider) bool { return p.API == e.API && p.ID == e.ID })
	switch {
	case own >= 0:
		text = d.Intent.Providers[own].Path.String()
	case replaced != nil && replaced.External == nil:
		text = "the configuration's own provider of type " + replaced.ProviderType
	default:
		return
	}
	d.Warn(draft.Finding{
		Path: e.External.Path.Child("providerId").String(), Overrides: true,
		Message: fmt.Sprintf("the external provider %q replaces %s; to keep both providers, give the external provider another ID", e.ID, text),
	})
}

// config returns the provider's config: the user's values, and the variables for values in Secrets, sorted by key.
func config(d *draft.Draft, e *draft.Provider) *yaml.Node {
	p, fields := e.External, yamlnode.FieldsOf(yamlnode.Map())
	secrets := make(map[string]*intent.SecretRef, len(p.Secrets))
	keys := slices.Collect(maps.Keys(p.Config))
	for i := range p.Secrets {
		secrets[p.Secrets[i].Key] = &p.Secrets[i].SecretRef
		keys = append(keys, p.Secrets[i].Key)
	}
	slices.Sort(keys)
	for _, key := range slices.Compact(keys) {
		if ref := secrets[key]; ref != nil {
			d.WriteField(fields, key, yamlnode.String(d.SecretVariable(ref)), draft.From(ref.Path))
			continue
		}
		d.WriteField(fields, key, yamlnode.FromJSON(p.Config[key]), draft.From(p.Path.Child("config").Child(key)))
	}
	warnClearText(d, e)
	return fields.Mapping()
}

// warnClearText warns about credentials in clear text, which anyone who can read the ConfigMap can read. These
// credentials are the values of keys that the schema marks as secret, and of keys whose names identify a credential.
func warnClearText(d *draft.Draft, e *draft.Provider) {
	path := e.External.Path.Child("config")
	seen := map[string]bool{}
	warn := func(at *field.Path) {
		if !seen[at.String()] {
			seen[at.String()] = true
			d.Warnf(at, "is a credential in clear text; name a Secret in secretRefs, or set a variable from a Secret in spec.secretEnv and write ${env.NAME} here")
		}
	}
	for _, key := range e.Kind.Secrets() {
		if credential.IsClearText(e.External.Config[key]) {
			warn(path.Child(key))
		}
	}
	for _, at := range credential.ClearText(e.External.Config, path) {
		warn(at)
	}
}
