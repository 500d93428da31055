package convert

import (
	"encoding/json"

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
func toHub(older *object, born string) *object {
	older = switchedOff(older)
	hub := older.another()
	if given := older.objectAt(annotations); given != nil {
		hub.set(annotations, value{object: given.clone()})
	}
	hub.deleteAt(annotationPath(names.AnnotationConversionData))
	copyFields(waysToHub, older, hub)
	for _, a := range attributes {
		if v := older.lookup(a.older); v.hasText() && !v.is(a.usual) && a.applies(hub) {
			hub.setAt(annotationPath(a.annotation), v)
		}
	}
	exposeToHub(older, hub)
	if providers := hub.objectAt(hubProviders...); providers != nil {
		for i := range providers.members {
			providersToHub(&providers.members[i].value, hub.arena)
		}
	}
	if born != bornHub {
		hub.setAt(annotationPath(names.AnnotationCompat), rawText(names.CompatV1Alpha1))
	}
	return hub
}

// switchedOff returns the content without the fields that disable a feature in v1alpha1 and that the hub omits: a
// userConfig with an empty name, autoscaling with a maximum below 1, and a minimum below 1. It does not change the
// given content.
func switchedOff(older *object) *object {
	off := offIn(older)
	if len(off) == 0 {
		return older
	}
	older = older.clone()
	for _, p := range off {
		older.deleteAt(p)
	}
	return older
}

// offIn returns the paths of the fields that disable a feature.
func offIn(older *object) []path {
	var off []path
	if userConfig := older.objectAt(olderUserConfig...); userConfig.get("configMapName").is("") {
		off = append(off, olderUserConfig)
	}
	if autoscaling := older.objectAt(olderAutoscaling...); autoscaling != nil {
		if !positive(autoscaling.get("maxReplicas")) {
			off = append(off, olderAutoscaling)
		}
		if minimum := autoscaling.get("minReplicas"); minimum.exists() && !positive(minimum) {
			off = append(off, olderMinReplicas)
		}
	}
	return off
}

// positive reports whether a JSON number is at least 1.
func positive(v value) bool {
	var number float64
	return json.Unmarshal(v.raw, &number) == nil && number >= 1
}

// exposeToHub copies exposeRoute to the hub. For a network that has neither exposeRoute nor allowedFrom, it writes
// false, so that the hub records that there is a network.
func exposeToHub(older, hub *object) {
	network := older.objectAt(olderNetwork...)
	if network == nil {
		return
	}
	expose := network.get("exposeRoute")
	switch {
	case expose.isTrue(), expose.isFalse():
		hub.setAt(hubExpose, expose)
	case expose.isNull() && network.get("allowedFrom").isNull():
		hub.setAt(hubExpose, rawBool(false))
	}
}

// toOlder converts the content of a hub object to v1alpha1, without values that v1alpha1 cannot hold.
func toOlder(hub *object) *object {
	older := hub.another()
	if given := hub.objectAt(annotations); given != nil {
		older.set(annotations, value{object: given.clone()})
	}
	older.deleteAt(annotationPath(names.AnnotationConversionData))
	if born(hub) == "" {
		older.deleteAt(annotationPath(names.AnnotationCompat))
	}
	copyFields(waysToOlder, hub, older)
	for _, a := range attributes {
		if v := hub.lookup(annotationPath(a.annotation)); v.hasText() && a.applies(hub) {
			older.setAt(a.older, v)
			older.deleteAt(annotationPath(a.annotation))
		}
	}
	if container := older.objectAt(olderContainer...); container != nil && container.get("name").isNull() {
		container.set("name", rawText(names.Container))
	}
	exposeToOlder(hub, older)
	tidy(older)
	return older
}

// exposeToOlder writes exposeRoute for a boolean or an object in the hub.
func exposeToOlder(hub, older *object) {
	switch expose := hub.lookup(hubExpose); {
	case expose.isTrue(), expose.isFalse():
		older.setAt(olderExpose, expose)
	case expose.opened(hub.arena) != nil:
		older.setAt(olderExpose, rawBool(!expose.member("enabled").isFalse()))
	}
}

// applies reports whether the hub has the field without which the annotation has no meaning.
func (a attribute) applies(hub *object) bool {
	return a.neighbor == nil || !hub.lookup(a.neighbor).isNull()
}
