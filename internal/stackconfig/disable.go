package stackconfig

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/internal/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/yamlnode"
)

// disable takes APIs and single providers away, with the resources and the
// settings that name them. Disabled wins over configured, with a warning.
func disable(d *draft) {
	if len(d.in.Disabled) == 0 {
		return
	}
	for i := range d.in.Disabled {
		d.checkDisabled(&d.in.Disabled[i])
	}
	for i := range d.in.Providers {
		p := &d.in.Providers[i]
		if item := d.off.by(p.API, p.ID); item != nil && !d.off.dependents[[2]string{p.API, p.ID}] {
			d.ignored(p.Path, "provider %q is ignored, because %s disables it", p.ID, item.Path)
		}
	}
	d.removeProviders()
	removed := d.removeResources()
	d.removeReferences(removed)
}

// checkDisabled tells a slip of the pen from an API of another release.
func (d *draft) checkDisabled(item *intent.Disabled) {
	api := apiName(item.API)
	known, ok := d.rel.API(api)
	switch {
	case api == apiTelemetry && d.rel.Runtime.TelemetrySwitch != "":
		d.switchOff(item)
	case !ok && release.KnownAPI(api):
		d.warnf(item.Path, "the server release %s has no API %q, so there is nothing to disable%s", d.rel.Line, item.API, d.otherRelease(api))
	case !ok:
		d.fail(field.Invalid(item.Path, item.API, fmt.Sprintf("%q is not an API; known are %s", item.API, strings.Join(d.providable(), ", "))))
	case !known.Providable && known.Router != "":
		d.fail(field.Invalid(item.Path, item.API, fmt.Sprintf("%q is a part of %s; disable that", item.API, apiField(known.Router))))
	case !known.Providable:
		d.fail(field.Invalid(item.Path, item.API, fmt.Sprintf("%q belongs to the server itself and cannot be disabled", item.API)))
	case item.Provider != "" && !d.hasProvider(api, item.Provider):
		d.warnf(item.Path, "there is no %s provider %q to disable", apiField(api), item.Provider)
	}
}

// apiTelemetry is an API of old releases, and a switch in one that came after.
const apiTelemetry = "telemetry"

// switchOff writes false to the setting that telemetry depends on.
func (d *draft) switchOff(item *intent.Disabled) {
	keys := strings.Split(d.rel.Runtime.TelemetrySwitch, ".")
	parent := d.root
	for _, key := range keys[:len(keys)-1] {
		parent = d.section(parent, key, from(item.Path))
	}
	d.write(under(parent, keys[len(keys)-1]), yamlnode.Bool(false), from(item.Path))
}

func (d *draft) hasProvider(api, id string) bool {
	return d.index.find(api, id) != nil || slices.ContainsFunc(d.in.Providers, func(p intent.Provider) bool {
		return p.API == api && p.ID == id
	})
}

func (d *draft) providable() []string {
	var apis []string
	for _, name := range d.rel.APIs() {
		if api, _ := d.rel.API(name); api.Providable {
			apis = append(apis, apiField(name))
		}
	}
	slices.Sort(apis)
	return apis
}

func (d *draft) removeProviders() {
	all := yamlnode.Get(d.root, "providers")
	gone := func(e *entry) bool { return d.off.has(e.api, e.id) }
	nodes := make(map[*yaml.Node]bool)
	for _, e := range d.index.entries {
		if gone(e) {
			nodes[e.node] = true
		}
	}
	for i := 1; i < len(all.Content); i += 2 {
		removeItem(all.Content[i], func(item *yaml.Node) bool { return nodes[item] })
	}
	d.index.remove(gone)
	apis := yamlnode.Get(d.root, "apis")
	listed := yamlnode.Len(apis) > 0
	for api := range d.off.apis {
		yamlnode.Remove(all, api)
		removeItem(apis, func(item *yaml.Node) bool { return item.Value == api })
	}
	for key := range d.off.providers {
		d.removeBareAPI(key[0], all, apis)
	}
	// A list that became empty would serve nothing there, not even the server's own APIs.
	if listed && yamlnode.Len(apis) == 0 && d.rel.Runtime.EmptyAPIsServeNone {
		yamlnode.Remove(d.root, "apis")
	}
}

// removeBareAPI takes an API off the list when its last provider was disabled, where the server does not start with an
// API that has none.
func (d *draft) removeBareAPI(api string, all, apis *yaml.Node) {
	if known, _ := d.rel.API(api); !known.NeedsProvider || len(d.index.of(api)) > 0 {
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

// removeResources takes away what a removed provider served, and returns the ids
// by kind.
func (d *draft) removeResources() map[string][]string {
	removed := make(map[string][]string)
	for _, known := range d.rel.Resources() {
		if known.API == "" {
			continue
		}
		removeItem(d.existing(known), func(item *yaml.Node) bool {
			provider, _ := envref.Static(yamlnode.Text(item, "provider_id"))
			if !d.off.has(known.API, provider) {
				return false
			}
			id, _ := envref.Static(yamlnode.Text(item, known.IDKey))
			removed[known.Kind] = append(removed[known.Kind], id)
			return true
		})
	}
	return removed
}

// removeReferences takes away the settings that name a removed provider or
// resource: the server would not start, or fail the requests that use them.
func (d *draft) removeReferences(removed map[string][]string) {
	for _, reference := range d.rel.References {
		keys := strings.Split(reference.Path, ".")
		parent := yamlnode.At(d.root, keys[:len(keys)-1]...)
		setting := yamlnode.Get(parent, keys[len(keys)-1])
		if yamlnode.IsNull(setting) {
			continue
		}
		provider, resource := named(setting, reference.ProviderKey), named(setting, reference.ResourceKey)
		if d.off.has(reference.API, provider) || slices.Contains(removed[reference.Resource], resource) {
			yamlnode.Remove(parent, keys[len(keys)-1])
			if len(parent.Content) == 0 && len(keys) == 2 {
				yamlnode.Remove(d.root, keys[0])
			}
		}
	}
}
