package refusal

import "slices"

var (
	overrides = field("spec", "workload", "overrides")
	patch     = slices.Concat(overrides, field("podTemplate"))
)

// mergeKeys are the keys by which a patch identifies the items of a list. A patch replaces the other lists as a whole.
var mergeKeys = map[string]string{
	"containers": "name", "initContainers": "name", "ephemeralContainers": "name", "volumes": "name", "env": "name",
	"imagePullSecrets": "name", "resourceClaims": "name", "volumeMounts": "mountPath", "ports": "containerPort",
	"volumeDevices": "devicePath", "hostAliases": "ip", "topologySpreadConstraints": "topologyKey",
}

// pod returns the path in the spec for a field of a pod or of a pod template.
func (s *source) pod(at path, template any) path {
	if len(at) > 0 && (at[0].name == "labels" || at[0].name == "annotations") {
		at = slices.Concat(field("metadata"), at) // the API server leaves out the metadata of a template
	}
	patched, missing := s.patched(at, template)
	if patched != nil && missing == 0 {
		return patched
	}
	if found := s.overridden(at, template); found != nil {
		return found
	}
	if missing == 1 {
		return patched // the patch sets the object in which a field is missing
	}
	return nil
}

// patched returns the path in the patch for the pod template, and the number of steps for which the patch has no value.
// It returns nil if the patch contains nothing of the path.
func (s *source) patched(at path, template any) (found path, missing int) {
	node, ok := patch.at(s.spec)
	if !ok {
		return nil, 0
	}
	found = slices.Clone(patch)
	list := ""
	for i, one := range at {
		rendered, _ := path{one}.at(template)
		if index := one.index(); index >= 0 {
			if index = same(node, rendered, mergeKeys[list], index); index < 0 {
				return nil, 0
			}
			one = field(index)[0]
		}
		next, has := path{one}.at(node)
		if !has {
			return slices.Concat(found, at[i:]), len(at) - i
		}
		if !one.bracketed {
			list = one.name
		}
		found, node, template = append(found, one), next, rendered
	}
	return found, 0
}

// same returns the index of an item of the rendered list in a list of the spec, or -1 if there is none.
func same(list, item any, key string, index int) int {
	items, _ := list.([]any)
	if key == "" {
		if index < len(items) {
			return index
		}
		return -1
	}
	wanted := keyOf(item, key)
	return slices.IndexFunc(items, func(other any) bool { return wanted != nil && keyOf(other, key) == wanted })
}

// keyOf returns the value of a key of an item. It returns nil if there is none.
func keyOf(item any, key string) any {
	fields, _ := item.(map[string]any)
	switch value := fields[key].(type) {
	case string, int64, float64:
		return value
	default:
		return nil
	}
}

// podOrigins lists the origins of the fields of a pod, and serverOrigins those of the server's container. An origin
// that is a list with a merge key can have its items in another order.
var (
	podOrigins = []origin{
		{[]string{"metadata", "labels"}, slices.Concat(overrides, field("podLabels")), true},
		{[]string{"metadata", "annotations"}, slices.Concat(overrides, field("podAnnotations")), true},
		{[]string{"spec", "volumes"}, slices.Concat(overrides, field("volumes")), true},
		{[]string{"spec", "imagePullSecrets"}, slices.Concat(overrides, field("imagePullSecrets")), false},
		{[]string{"spec", "serviceAccountName"}, slices.Concat(overrides, field("serviceAccountName")), false},
		{
			[]string{"spec", "terminationGracePeriodSeconds"},
			slices.Concat(overrides, field("terminationGracePeriodSeconds")), false,
		},
		{[]string{"spec", "topologySpreadConstraints"}, field("spec", "workload", "topologySpreadConstraints"), true},
	}
	serverOrigins = []origin{
		{[]string{"image"}, field("spec", "distribution", "image"), false},
		{[]string{"resources"}, field("spec", "workload", "resources"), true},
		{[]string{"env"}, slices.Concat(overrides, field("env")), true},
		{[]string{"envFrom"}, slices.Concat(overrides, field("envFrom")), true},
		{[]string{"volumeMounts"}, slices.Concat(overrides, field("volumeMounts")), true},
		{[]string{"imagePullPolicy"}, slices.Concat(overrides, field("imagePullPolicy")), false},
		{[]string{"ports"}, port, false},
	}
)

// overridden returns the path in the spec, outside of the patch, for a field of a pod.
func (s *source) overridden(at path, template any) path {
	table := podOrigins
	if rest, ok := at.after("spec", "containers", "0"); ok { // the server's container is the first one
		template, _ = at[:3].at(template)
		at, table = rest, serverOrigins
	}
	for _, one := range table {
		rest, ok := at.after(one.from...)
		if !ok || !s.has(one.to) {
			continue
		}
		if !one.below {
			return one.to
		}
		list := one.from[len(one.from)-1]
		if len(rest) > 0 && rest[0].index() >= 0 {
			item, _ := at[:len(one.from)+1].at(template)
			index := same(s.value(one.to), item, mergeKeyOf(list), rest[0].index())
			if index < 0 {
				continue
			}
			rest = slices.Concat(field(index), rest[1:])
		}
		return slices.Concat(one.to, rest)
	}
	return nil
}

// mergeKeyOf returns the key that identifies the items of a list. Constraints for the spread of pods have none, because
// they are rendered in the order of the spec.
func mergeKeyOf(list string) string {
	if list == "topologySpreadConstraints" {
		return ""
	}
	return mergeKeys[list]
}
