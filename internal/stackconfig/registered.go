package stackconfig

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/yamlnode"
)

// registered says whether the server registers an entry: its conditions are met,
// and its provider exists where it needs one.
func (d *draft) registered(known release.Resource, item *yaml.Node) bool {
	_, condition := envref.Static(yamlnode.Text(item, known.IDKey))
	if !d.met(condition) {
		return false
	}
	if !known.NeedsProvider {
		return true
	}
	id, condition := envref.Static(yamlnode.Text(item, "provider_id"))
	e := d.index.find(known.API, id)
	return d.met(condition) && e != nil && e.enabled
}

// existing is the list of a kind, nil when there is none.
func (d *draft) existing(known release.Resource) *yaml.Node {
	if known.Section == release.TopLevel {
		return yamlnode.Get(d.root, known.Kind)
	}
	return yamlnode.At(d.root, known.Section, known.Kind)
}

// available lists the providers of an API that a resource may name, the user's
// first.
func (d *draft) available(api string) string {
	var users, others []string
	for _, e := range d.index.of(api) {
		switch {
		case e.id == "" || d.off.has(api, e.id):
		case e.user != nil:
			users = append(users, e.id)
		default:
			others = append(others, e.id)
		}
	}
	all := slices.Concat(users, others)
	if len(all) == 0 {
		return "none"
	}
	return listed(all)
}

// hasDependent reports whether a provider of an API, of one of the types if there are any, went with what it needs.
func (d *draft) hasDependent(api string, types ...string) bool {
	return slices.ContainsFunc(d.index.of(api), func(e *entry) bool {
		return d.off.dependents[[2]string{api, e.id}] && (len(types) == 0 || slices.Contains(types, e.providerType))
	})
}

// named is the id that a setting holds under a key; "." is the setting itself.
func named(setting *yaml.Node, key string) string {
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

func itemPath(known release.Resource, i int) string {
	return fmt.Sprintf("%s[%d]", joinPath(known.Section, known.Kind), i)
}
