package draft

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/suggest"
)

// Registers reports whether the server registers an entry: its conditions are met, and its provider exists if it needs
// one.
func (d *Draft) Registers(known release.Resource, item *yaml.Node) bool {
	_, condition := envref.Static(yamlnode.Text(item, known.IDKey))
	if !d.Met(condition) {
		return false
	}
	if !known.NeedsProvider {
		return true
	}
	id, condition := envref.Static(yamlnode.Text(item, "provider_id"))
	e := d.Index.Find(known.API, id)
	return d.Met(condition) && e != nil && e.Enabled
}

// ResourcesOf returns the list of resources of a kind, or nil when there is none.
func (d *Draft) ResourcesOf(known release.Resource) *yaml.Node {
	if known.Section == release.TopLevel {
		return yamlnode.Get(d.Root, known.Kind)
	}
	return yamlnode.At(d.Root, known.Section, known.Kind)
}

// fewProviders is the maximum number of providers that a message lists although the name of one of them is similar.
const fewProviders = 5

// OfferProviders returns the end of a message about a provider that does not exist. If there are many providers, and
// one has a similar name, it names only this one.
func (d *Draft) OfferProviders(api, name string) string {
	all := d.referable(api)
	if _, short, full := strings.Cut(name, "::"); full {
		name = short // users also write the type
	}
	if near := suggest.Nearest(name, all); near != "" && len(all) > fewProviders {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return "available: " + d.AvailableProviders(api)
}

// AvailableProviders lists the providers of an API that a resource can refer to, with the user's providers first.
func (d *Draft) AvailableProviders(api string) string {
	all := d.referable(api)
	if len(all) == 0 {
		return "none"
	}
	return intent.Listed(all)
}

func (d *Draft) referable(api string) []string {
	var users, others []string
	for _, e := range d.Index.Of(api) {
		switch {
		case e.ID == "" || e.ID == DisabledID || d.Disabled.Has(api, e.ID):
		case e.User != nil:
			users = append(users, e.ID)
		default:
			others = append(others, e.ID)
		}
	}
	return slices.Concat(users, others)
}

// HasDependent reports whether a provider of an API was disabled together with a provider or an API that it needs. If
// types are given, only providers of these types count.
func (d *Draft) HasDependent(api string, types ...string) bool {
	return slices.ContainsFunc(d.Index.Of(api), func(e *Provider) bool {
		return d.Disabled.Dependents[[2]string{api, e.ID}] && (len(types) == 0 || slices.Contains(types, e.ProviderType))
	})
}

// NamedID returns the ID under a key in a setting. For the key ".", the setting itself is the ID.
func NamedID(setting *yaml.Node, key string) string {
	text := ""
	switch {
	case key == "":
	case key == "." && setting.Kind == yaml.ScalarNode:
		text = setting.Value
	default:
		text = yamlnode.Text(setting, key)
	}
	id, _ := envref.Static(text)
	return id
}

// ItemPath returns the path of the i-th resource of a kind.
func ItemPath(known release.Resource, i int) string {
	return fmt.Sprintf("%s[%d]", JoinPath(known.Section, known.Kind), i)
}
