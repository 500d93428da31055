package stackconfig

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/draft"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
)

// disable removes the APIs and the providers in spec.disabled, together with the resources and settings that refer to
// them. If a provider is both disabled and configured, it is disabled, and a warning reports this. The parameter
// `dropped` lists, by kind, the IDs of the base's resources that the `base-providers` step removed.
func disable(d *draft.Draft, dropped map[string][]string) {
	if len(d.Intent.Disabled) == 0 && len(d.Dropped) == 0 {
		return
	}
	for i := range d.Intent.Disabled {
		checkDisabled(d, &d.Intent.Disabled[i])
	}
	for i := range d.Intent.Providers {
		p := &d.Intent.Providers[i]
		if item := d.Disabled.By(p.API, p.ID); item != nil && !d.Disabled.Dependents[[2]string{p.API, p.ID}] {
			d.Ignoredf(p.Path, "provider %q is ignored, because %s disables it; remove the provider or the entry", p.ID, item.Path)
		}
	}
	for i := range d.Intent.External {
		p := &d.Intent.External[i]
		if item := d.Disabled.By(p.API, p.ID); item != nil {
			d.Ignoredf(p.Path, "provider %q is ignored, because %s disables it; remove the provider or the entry", p.ID, item.Path)
		}
	}
	removeProviders(d)
	removed := removeResources(d, d.Disabled.Has)
	for kind, ids := range dropped {
		removed[kind] = append(removed[kind], ids...)
	}
	removeReferences(d, removed)
}

// checkDisabled reports problems with an entry in spec.disabled. It distinguishes a misspelled name from an API of
// another release. If the entry names the telemetry API and the release has a setting instead of this API,
// checkDisabled sets the setting to false.
func checkDisabled(d *draft.Draft, item *intent.Disabled) {
	api := draft.APIName(item.API)
	known, ok := d.Release.API(api)
	switch {
	case api == apiTelemetry && d.Release.Runtime.TelemetrySwitch != "":
		switchOff(d, item)
	case !ok && release.KnownAPI(api):
		d.Warnf(item.Path, "server release %s has no API %q%s; this entry has no effect", d.Release.Line, item.API, d.OtherRelease(api))
	case !ok:
		d.Fail(field.Invalid(item.Path, item.API, fmt.Sprintf("%q is not an API; known APIs: %s", item.API, strings.Join(providable(d), ", "))))
	case !known.Providable && known.Router != "":
		d.Fail(field.Invalid(item.Path, item.API, fmt.Sprintf("%q is part of %s; disable that API instead", item.API, draft.APIField(known.Router))))
	case !known.Providable:
		d.Fail(field.Invalid(item.Path, item.API, fmt.Sprintf("%q is part of the server itself and cannot be disabled; remove the entry", item.API)))
	case item.Provider != "" && item.Provider != intent.Wildcard && !hasProvider(d, api, item.Provider):
		d.Warnf(item.Path, "no %s provider has the ID %q, so this entry has no effect; correct or remove the entry", draft.APIField(api), item.Provider)
	}
}

// apiTelemetry is the name of an API in old releases. In a later release, a setting replaces the API (server fact 64).
const apiTelemetry = "telemetry"

// switchOff writes false to the setting that controls telemetry.
func switchOff(d *draft.Draft, item *intent.Disabled) {
	keys := strings.Split(d.Release.Runtime.TelemetrySwitch, ".")
	parent := d.Root
	for _, key := range keys[:len(keys)-1] {
		parent = d.Section(parent, key, draft.From(item.Path))
	}
	d.Write(draft.Under(parent, keys[len(keys)-1]), yamlnode.Bool(false), draft.From(item.Path))
}

func hasProvider(d *draft.Draft, api, id string) bool {
	return d.Index.Find(api, id) != nil || d.Dropped[[2]string{api, id}] || d.Intent.Declares(api, id)
}

func providable(d *draft.Draft) []string {
	var apis []string
	for _, name := range d.Release.APIs() {
		if api, _ := d.Release.API(name); api.Providable {
			apis = append(apis, draft.APIField(name))
		}
	}
	slices.Sort(apis)
	return apis
}

func removeProviders(d *draft.Draft) {
	all := yamlnode.Get(d.Root, "providers")
	gone := func(e *draft.Provider) bool { return d.Disabled.Has(e.API, e.ID) }
	nodes := make(map[*yaml.Node]bool)
	for _, e := range d.Index.Providers {
		if gone(e) {
			nodes[e.Node] = true
		}
	}
	for i := 1; i < len(all.Content); i += 2 {
		removeItem(all.Content[i], func(item *yaml.Node) bool { return nodes[item] })
	}
	d.Index.Remove(gone)
	apis := yamlnode.Get(d.Root, "apis")
	listed := yamlnode.Len(apis) > 0
	for api := range d.Disabled.APIs {
		yamlnode.Remove(all, api)
		removeItem(apis, func(item *yaml.Node) bool { return item.Value == api })
	}
	for key := range d.Disabled.Providers {
		removeBareAPI(d, key[0], all, apis)
	}
	// With an empty list, the server would serve no APIs, not even its built-in ones (server fact 56).
	if listed && yamlnode.Len(apis) == 0 && d.Release.Runtime.EmptyAPIsServeNone {
		yamlnode.Remove(d.Root, "apis")
	}
}

// removeBareAPI removes an API from the list if its last provider was disabled and the server does not start with the
// API without a provider.
func removeBareAPI(d *draft.Draft, api string, all, apis *yaml.Node) {
	if known, _ := d.Release.API(api); !known.NeedsProvider || len(d.Index.Of(api)) > 0 {
		return
	}
	yamlnode.Remove(all, api)
	removeItem(apis, func(item *yaml.Node) bool { return item.Value == api })
}

func removeItem(list *yaml.Node, match func(*yaml.Node) bool) {
	if list != nil {
		list.Content = slices.DeleteFunc(list.Content, match)
	}
}

// removeResources removes the resources of the removed providers, and returns the IDs of these resources by kind.
func removeResources(d *draft.Draft, gone func(api, id string) bool) map[string][]string {
	removed := make(map[string][]string)
	for _, known := range d.Release.Resources() {
		if known.API == "" {
			continue
		}
		removeItem(d.ResourcesOf(known), func(item *yaml.Node) bool {
			provider, _ := envref.Static(yamlnode.Text(item, "provider_id"))
			if !gone(known.API, provider) {
				return false
			}
			id, _ := envref.Static(yamlnode.Text(item, known.IDKey))
			removed[known.Kind] = append(removed[known.Kind], id)
			return true
		})
	}
	return removed
}

// removeReferences removes the settings that name a removed provider or resource. With such settings, the server would
// not start, or requests that use them would fail.
func removeReferences(d *draft.Draft, removed map[string][]string) {
	for _, reference := range d.Release.References {
		keys := strings.Split(reference.Path, ".")
		parent := yamlnode.At(d.Root, keys[:len(keys)-1]...)
		setting := yamlnode.Get(parent, keys[len(keys)-1])
		if yamlnode.IsNull(setting) {
			continue
		}
		provider, resource := draft.NamedID(setting, reference.ProviderKey), draft.NamedID(setting, reference.ResourceKey)
		if !d.Gone(reference.API, provider) && !lostResource(d, reference, resource, removed) {
			continue
		}
		yamlnode.Remove(parent, keys[len(keys)-1])
		if len(parent.Content) == 0 && len(keys) == 2 {
			yamlnode.Remove(d.Root, keys[0])
		}
		if d.Dropped[[2]string{reference.API, provider}] {
			warnOfReference(d, reference.Path, draft.APIField(reference.API)+"/"+provider)
		}
	}
}

// lostResource reports whether a reference names a removed resource. A reference without a provider is still valid if
// another provider has a resource with the same ID.
func lostResource(d *draft.Draft, reference release.Reference, id string, removed map[string][]string) bool {
	if !slices.Contains(removed[reference.Resource], id) {
		return false
	}
	known, _ := d.Release.Resource(reference.Resource)
	return reference.ProviderKey != "" || !slices.ContainsFunc(yamlnode.Items(d.ResourcesOf(known)),
		func(item *yaml.Node) bool {
			other, _ := envref.Static(yamlnode.Text(item, known.IDKey))
			return other == id
		})
}
