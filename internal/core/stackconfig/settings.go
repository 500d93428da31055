package stackconfig

import (
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/credential"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/draft"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/storage"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/suggest"
)

// settings applies the user's own changes to the configuration. It removes the paths in removeSettings and then merges
// the settings (RFC 7396). To replace a section of the base as a whole, a user adds the path of the section to
// removeSettings, and sets the new section in the settings. Package intent has already rejected changes that are never
// allowed. settings rejects a change to a value that another field of the spec has set.
//
// settings returns the paths that removeSettings removed from the configuration, each with the entry that removed it.
func settings(d *draft.Draft) map[string]*field.Path {
	taken := make(map[string]*field.Path, len(d.Intent.Settings.Removed))
	for i := range d.Intent.Settings.Removed {
		removeSetting(d, &d.Intent.Settings.Removed[i], taken)
	}
	merge(d, d.Root, d.Intent.Settings.Values, d.Intent.Settings.Path)
	// Anyone who can read the ConfigMap can read them.
	for _, at := range credential.ClearText(d.Intent.Settings.Values, d.Intent.Settings.Path) {
		d.Warnf(at, "is a credential in clear text; put it in a Secret, name the Secret in spec.secretEnv, and write ${env.NAME} here")
	}
	storage.PlaceNamed(d)
	storage.AddNeeded(d)
	if d.Intent.Settings.Values["logging"] != nil {
		d.Ignoredf(d.Intent.Settings.Path.Child("logging"), "server release %s does not read log levels from its configuration; set %s in spec.workload.overrides.env",
			d.Release.Line, d.Release.Runtime.LoggingVariable)
	}
	return taken
}

// removeSetting removes one value and the sections that become empty as a result, because the server treats an empty
// section differently from a missing section (server.auth).
func removeSetting(d *draft.Draft, removed *intent.RemovedSetting, taken map[string]*field.Path) {
	parents := []*yaml.Node{d.Root}
	for i, key := range removed.Keys {
		parent := parents[i]
		found := yamlnode.Get(parent, key)
		if found == nil {
			warnNothingRemoved(d, removed, parent, i)
			return
		}
		parents = append(parents, found)
	}
	last := len(removed.Keys)
	if owner := setBy(d, parents[last]); owner != nil {
		d.Failf(removed.Path, "%q is set by %s and cannot be removed here; remove this entry from removeSettings", removed.Text(), owner)
		return
	}
	for i := last; i > 0 && (i == last || yamlnode.Len(parents[i]) == 0); i-- {
		yamlnode.Remove(parents[i-1], removed.Keys[i-1])
		taken[strings.Join(removed.Keys[:i], ".")] = removed.Path
	}
}

// warnNothingRemoved warns about a path whose i-th key does not exist in the parent.
func warnNothingRemoved(d *draft.Draft, removed *intent.RemovedSetting, parent *yaml.Node, i int) {
	near := slices.Clone(removed.Keys)
	near[i] = suggest.Nearest(near[i], yamlnode.Keys(parent))
	switch {
	case parent.Kind == yaml.SequenceNode:
		d.Warnf(removed.Path, "%q is inside a list, and removeSettings cannot remove part of a list; remove the whole list", removed.Text())
	case near[i] != "":
		d.Warnf(removed.Path, "the configuration has no %q; did you mean %q?", removed.Text(), strings.Join(near, "."))
	default:
		d.Warnf(removed.Path, "the configuration has no %q, so nothing is removed; correct or remove the entry",
			removed.Text())
	}
}

// merge writes values into a mapping. It merges an object into an object, and replaces everything else.
func merge(d *draft.Draft, mapping *yaml.Node, values map[string]any, path *field.Path) {
	fields := yamlnode.FieldsOf(mapping)
	for _, key := range slices.Sorted(maps.Keys(values)) {
		there := fields.Get(key)
		inner, isObject := values[key].(map[string]any)
		if isObject && there != nil && there.Kind == yaml.MappingNode {
			merge(d, there, inner, path.Child(key))
			continue
		}
		if owner := setBy(d, there); owner != nil {
			d.Failf(path.Child(key), "is also set by %s; keep one of them", owner)
			continue
		}
		d.WriteField(fields, key, yamlnode.FromJSON(values[key]), draft.From(path.Child(key)))
	}
}

// setBy returns the field of the spec that set a value or a part of it, or nil when no field did. A value that is
// derived from a field is a default, which the settings can replace.
func setBy(d *draft.Draft, node *yaml.Node) *field.Path {
	if node == nil {
		return nil
	}
	if origin := d.OriginOf(node); origin.Path != nil && origin.Note == "" {
		return origin.Path
	}
	for _, inner := range node.Content {
		if owner := setBy(d, inner); owner != nil {
			return owner
		}
	}
	return nil
}
