package convert

import (
	"encoding/json"
	"maps"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// These fields need their own conversion.
var (
	olderNetwork     = split("spec.network")
	olderExpose      = split("spec.network.exposeRoute")
	olderUserConfig  = split("spec.server.userConfig")
	olderAutoscaling = split("spec.server.autoscaling")
	olderMinReplicas = split("spec.server.autoscaling.minReplicas")
	olderContainer   = split("spec.server.containerSpec")
	hubExpose        = split("spec.networking.expose")
	hubProviders     = split("spec.providers")
)

// toHub converts the content of a v1alpha1 object to the hub, without values that the hub cannot hold.
func toHub(older tree, born string) tree {
	older = switchedOff(older)
	hub := started(older)
	copyFields(older, hub, toNewer)
	for _, a := range attributes {
		if v := lookup(older, a.older); text(v) != "" && text(v) != a.usual && a.applies(hub) {
			setAt(hub, annotationPath(a.annotation), v)
		}
	}
	exposeToHub(older, hub)
	given := lookup(hub, hubProviders)
	if providers := fields(given); providers != nil {
		if _, shared := given.(tree); shared {
			providers = maps.Clone(providers)
		}
		for api, written := range providers {
			providers[api] = providersToHub(written)
		}
		setAt(hub, hubProviders, providers)
	}
	if born != bornHub {
		setAt(hub, annotationPath(names.AnnotationCompat), names.CompatV1Alpha1)
	}
	return hub
}

// started returns content that has only the annotations of other content.
func started(from tree) tree {
	if given := fields(from[annotations]); given != nil {
		return tree{annotations: maps.Clone(given)}
	}
	return tree{}
}

// copyFields copies the fields that both versions have from one object to another. A null counts as a missing field.
func copyFields(from, to tree, ends func(field) (from, to path)) {
	for _, f := range shared {
		source, target := ends(f)
		switch v := lookup(from, source); {
		case isNull(v):
		case !f.holder:
			setAt(to, target, v)
		case kind(v) == '{' && isNull(lookup(to, target)):
			setAt(to, target, tree{})
		}
	}
}

// switchedOff returns the content without the fields that disable a feature in v1alpha1 and that the hub omits: a
// userConfig with an empty name, autoscaling with a maximum below 1, and a minimum below 1. It does not change the
// given content.
func switchedOff(older tree) tree {
	off := offIn(older)
	if len(off) == 0 {
		return older
	}
	older = clone(older)
	for _, p := range off {
		deleteAt(older, p)
	}
	return older
}

// offIn returns the paths of the fields that disable a feature.
func offIn(older tree) []path {
	var off []path
	if name := fields(lookup(older, olderUserConfig))["configMapName"]; kind(name) == '"' && text(name) == "" {
		off = append(off, olderUserConfig)
	}
	if autoscaling := fields(lookup(older, olderAutoscaling)); autoscaling != nil {
		if !positive(autoscaling["maxReplicas"]) {
			off = append(off, olderAutoscaling)
		}
		if minimum := autoscaling["minReplicas"]; minimum != nil && !positive(minimum) {
			off = append(off, olderMinReplicas)
		}
	}
	return off
}

// positive reports whether a JSON number is at least 1.
func positive(v any) bool {
	var number float64
	return kind(v) == '0' && json.Unmarshal(appendJSON(nil, v), &number) == nil && number >= 1
}

// exposeToHub copies exposeRoute to the hub. For a network that has neither exposeRoute nor allowedFrom, it writes
// false, so that the hub records that there is a network.
func exposeToHub(older, hub tree) {
	network := fields(lookup(older, olderNetwork))
	if network == nil {
		return
	}
	switch expose := network["exposeRoute"]; kind(expose) {
	case 't', 'f':
		setAt(hub, hubExpose, expose)
	case 'n':
		if isNull(network["allowedFrom"]) {
			setAt(hub, hubExpose, false)
		}
	default: // the hub cannot hold other values
	}
}

// toOlder converts the content of a hub object to v1alpha1, without values that v1alpha1 cannot hold.
func toOlder(hub tree) tree {
	older := started(hub)
	written := fields(older[annotations])
	if born(hub) == "" {
		delete(written, names.AnnotationCompat)
	}
	copyFields(hub, older, toOlderVersion)
	for _, a := range attributes {
		if v := written[a.annotation]; text(v) != "" && a.applies(hub) {
			setAt(older, a.older, v)
			delete(written, a.annotation)
		}
	}
	if container := fields(lookup(older, olderContainer)); container != nil && isNull(container["name"]) {
		container["name"] = names.Container
	}
	switch expose := lookup(hub, hubExpose); kind(expose) {
	case 't', 'f':
		setAt(older, olderExpose, expose)
	case '{':
		setAt(older, olderExpose, kind(fields(expose)["enabled"]) != 'f')
	default: // v1alpha1 cannot hold other values
	}
	if len(written) == 0 {
		delete(older, annotations)
	}
	return older
}

// applies reports whether the hub has the field without which the annotation has no meaning.
func (a attribute) applies(hub tree) bool {
	return a.neighbor == nil || !isNull(lookup(hub, a.neighbor))
}
