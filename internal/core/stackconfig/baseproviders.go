package stackconfig

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/check"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/draft"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/provider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
)

// baseProviders removes the base's providers that the spec's providers do not need, with their resources and APIs
// (spec.distribution.baseProviders: Required). It returns the IDs of the removed resources by kind. The `disable` step
// removes the settings that refer to them, after the user's own resources have replaced those of the base.
func baseProviders(d *draft.Draft) map[string][]string {
	if !d.Intent.Distribution.RequiredOnly {
		return nil
	}
	kept := keepRequired(d)
	var gone []*draft.Provider
	nodes := make(map[*yaml.Node]bool)
	for _, e := range d.Index.Providers {
		if !kept[e] {
			gone = append(gone, e)
			nodes[e.Node] = true
		}
	}
	d.Index.Remove(func(e *draft.Provider) bool { return !kept[e] })
	d.Dropped = make(map[[2]string]bool, len(gone))
	for _, e := range gone {
		if e.ID != "" && e.ID != draft.DisabledID && d.Index.Find(e.API, e.ID) == nil {
			d.Dropped[[2]string{e.API, e.ID}] = true
		}
	}
	dropAPIs(d, nodes)
	return removeResources(d, func(api, id string) bool {
		return d.Dropped[[2]string{api, id}] || len(d.Index.Of(api)) == 0
	})
}

// keeper collects the providers to keep, with the spec's providers first.
type keeper struct {
	*draft.Draft
	kept []*draft.Provider
	// needs maps each kept provider from the base to the providers that need it.
	needs map[*draft.Provider][]string
}

// keepRequired returns the providers to keep: the providers of the spec, and one provider of the base for each API that
// a kept provider needs and that no other kept provider serves. A warning names each kept provider from the base.
func keepRequired(d *draft.Draft) map[*draft.Provider]bool {
	k := keeper{Draft: d, needs: make(map[*draft.Provider][]string)}
	for _, e := range d.Index.Providers {
		if e.Path() != nil {
			k.kept = append(k.kept, e)
		}
	}
	for i := 0; i < len(k.kept); i++ { // a kept provider from the base can need more APIs
		k.keepNeeded(k.kept[i])
	}
	all := make(map[*draft.Provider]bool, len(k.kept))
	for _, e := range k.kept {
		all[e] = true
		if e.Path() == nil {
			api := draft.APIField(e.API)
			d.Warnf(intent.BaseProvidersPath, "keeps the base's provider %s/%s, because these providers need the API %s: "+
				"%s; to replace the base's provider, add a provider to spec.providers.%s", api, e.ID, api, intent.Listed(k.needs[e]), api)
		}
	}
	return all
}

// keepNeeded keeps a provider of the base for each API that a provider needs and that no kept provider serves.
// keepNeeded does nothing for a provider that does not start. It also does nothing for a provider whose type the
// release does not have, because the APIs that such a type needs are unknown.
func (k *keeper) keepNeeded(e *draft.Provider) {
	if e.Kind == nil || !usable(k.Draft, e) {
		return
	}
	for _, api := range e.Kind.Requires {
		api = check.ProvidedBy(k.Draft, api)
		if api == "" {
			continue
		}
		at := slices.IndexFunc(k.kept, func(other *draft.Provider) bool { return other.API == api })
		if at < 0 {
			other := ofBase(k.Draft, api)
			if other == nil {
				continue
			}
			at = len(k.kept)
			k.kept = append(k.kept, other)
		}
		name := draft.APIField(e.API) + "/" + e.ID
		if needed := k.kept[at]; needed.Path() == nil && !slices.Contains(k.needs[needed], name) {
			k.needs[needed] = append(k.needs[needed], name)
		}
	}
}

// ofBase returns the provider of the base to keep for an API that a kept provider needs. It prefers the provider that
// the base names as its default, then the first inline provider, and then the first provider. It ignores providers that
// are not usable, and returns nil when no usable provider exists.
func ofBase(d *draft.Draft, api string) *draft.Provider {
	for _, reference := range d.Release.References {
		if reference.API == api && reference.ProviderKey != "" {
			setting := yamlnode.At(d.Base, strings.Split(reference.Path, ".")...)
			if yamlnode.IsNull(setting) {
				continue
			}
			if e := d.Index.Find(api, draft.NamedID(setting, reference.ProviderKey)); e != nil && usable(d, e) {
				return e
			}
		}
	}
	var first *draft.Provider
	for _, e := range d.Index.Of(api) {
		switch {
		case !usable(d, e):
		case strings.HasPrefix(e.ProviderType, provider.Inline):
			return e
		case first == nil:
			first = e
		}
	}
	return first
}

// usable reports whether a provider exists, is not disabled and starts. A provider that needs a disabled API does not
// start.
func usable(d *draft.Draft, e *draft.Provider) bool {
	_, disables := missingRequirement(d, e)
	return e.Enabled && !d.Disabled.Has(e.API, e.ID) && disables == nil && (e.Kind == nil || e.Kind.Broken == "")
}

// dropAPIs removes the nodes of dropped providers, and the APIs that no longer have a provider. The `add-missing` step
// adds an API again if a provider needs the API and the API starts without providers.
func dropAPIs(d *draft.Draft, nodes map[*yaml.Node]bool) {
	all := yamlnode.Get(d.Root, "providers")
	var served []string
	for _, api := range yamlnode.Keys(all) {
		removeItem(yamlnode.Get(all, api), func(item *yaml.Node) bool { return nodes[item] })
		if len(d.Index.Of(api)) == 0 {
			yamlnode.Remove(all, api)
			continue
		}
		served = append(served, api)
	}
	apis := yamlnode.Get(d.Root, "apis")
	if yamlnode.Len(apis) > 0 {
		removeItem(apis, func(item *yaml.Node) bool { return !serves(d, item.Value) })
	} else if len(served) > 0 { // without a list, the server serves every API
		apis = d.List(d.Root, "apis", draft.From(intent.BaseProvidersPath))
		for _, api := range served {
			d.Write(draft.EndOf(apis), yamlnode.String(api), draft.From(intent.BaseProvidersPath))
		}
	}
	if yamlnode.Len(apis) == 0 {
		// From 1.5 on, a server with an empty list serves no API, not even its built-in ones (server fact 56).
		yamlnode.Remove(d.Root, "apis")
	}
}

// serves reports whether an API of the base is kept: the API has a provider, or the server provides the API without
// one.
func serves(d *draft.Draft, api string) bool {
	known, ok := d.Release.API(api)
	switch {
	case !ok: // the `check` step reports the unknown API
		return true
	case known.Router != "":
		api = known.Router
	case !known.Providable:
		return true
	}
	return len(d.Index.Of(api)) > 0
}

// sectionAPIs maps the name of a settings section to the API that reads the section.
var sectionAPIs = map[string]string{"vector_stores": "vector_io", "safety": "safety"}

// warnOfReference warns if a default in the base was removed together with its provider and if the server still serves
// the API that reads the default. It does not warn if spec.settings or spec.removeSettings contains the default.
func warnOfReference(d *draft.Draft, path, provider string) {
	section, _, _ := strings.Cut(path, ".")
	if api := sectionAPIs[section]; api == "" || len(d.Index.Of(api)) == 0 || d.Intent.Settings.Decides(strings.Split(path, ".")...) {
		return
	}
	d.Warn(draft.Finding{Path: intent.BaseProvidersPath.String(), ConfigPath: path, Message: fmt.Sprintf(
		"removes %s, because the server does not have the base's provider %s; to set a default, use spec.settings",
		path, provider)})
}
