package convert

import (
	"encoding/json"

	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
)

// The fields with a form of their own.
var (
	olderNetwork     = split("spec.network")
	olderExpose      = split("spec.network.exposeRoute")
	olderUserConfig  = split("spec.server.userConfig")
	olderAutoscaling = split("spec.server.autoscaling")
	olderContainer   = split("spec.server.containerSpec")
	hubExpose        = split("spec.networking.expose")
	hubProviders     = split("spec.providers")
)

// toHub is what of an older content can be seen in the hub.
func toHub(older map[string]any, born string) map[string]any {
	older = cloneObject(older)
	switchOff(older)
	hub := make(map[string]any)
	if given, ok := at(older, path{annotations}).(map[string]any); ok {
		hub[annotations] = cloneObject(given)
	}
	deleteAt(hub, annotationPath(names.AnnotationConversionData))
	for _, f := range fields {
		f.copyField(older, f.older, hub, f.hub)
	}
	for _, a := range attributes {
		if value, ok := at(older, a.older).(string); ok && value != "" && value != a.usual && a.applies(hub) {
			set(hub, annotationPath(a.annotation), value)
		}
	}
	exposeToHub(older, hub)
	if providers, ok := at(hub, hubProviders).(map[string]any); ok {
		for api, written := range providers {
			providers[api] = providersToHub(written)
		}
	}
	if born != bornHub {
		set(hub, annotationPath(names.AnnotationCompat), names.CompatV1Alpha1)
	}
	return hub
}

// switchOff takes away what v1alpha1 writes for off, and the hub by leaving it
// out: a userConfig without a name, autoscaling up to no replica.
func switchOff(older map[string]any) {
	if userConfig, ok := at(older, olderUserConfig).(map[string]any); ok && opened(userConfig["configMapName"]) == "" {
		deleteAt(older, olderUserConfig)
	}
	autoscaling, ok := at(older, olderAutoscaling).(map[string]any)
	if !ok {
		return
	}
	if !positive(autoscaling["maxReplicas"]) {
		deleteAt(older, olderAutoscaling)
	}
	if minimum, ok := autoscaling["minReplicas"]; ok && !positive(minimum) {
		delete(autoscaling, "minReplicas")
	}
}

// positive reports whether a JSON number is at least 1.
func positive(value any) bool {
	var number float64
	return json.Unmarshal(encode(value), &number) == nil && number >= 1
}

// exposeToHub writes the switch as it is. A network that says nothing of it
// still says that there is a network, which a renderer may want to know.
func exposeToHub(older, hub map[string]any) {
	network, ok := at(older, olderNetwork).(map[string]any)
	if !ok {
		return
	}
	switch expose := opened(network["exposeRoute"]).(type) {
	case bool:
		set(hub, hubExpose, expose)
	case nil:
		if isNull(network["allowedFrom"]) {
			set(hub, hubExpose, false)
		}
	}
}

// toOlder is what of a hub's content can be seen in v1alpha1.
func toOlder(hub map[string]any) map[string]any {
	older := make(map[string]any)
	if given, ok := at(hub, path{annotations}).(map[string]any); ok {
		older[annotations] = cloneObject(given)
	}
	deleteAt(older, annotationPath(names.AnnotationConversionData))
	if born(hub) == "" {
		deleteAt(older, annotationPath(names.AnnotationCompat))
	}
	for _, f := range fields {
		f.copyField(hub, f.hub, older, f.older)
	}
	for _, a := range attributes {
		if value, ok := at(hub, annotationPath(a.annotation)).(string); ok && value != "" && a.applies(hub) {
			set(older, a.older, value)
			deleteAt(older, annotationPath(a.annotation))
		}
	}
	if container, ok := at(older, olderContainer).(map[string]any); ok && isNull(container["name"]) {
		container["name"] = names.Container
	}
	switch expose := at(hub, hubExpose).(type) {
	case bool:
		set(older, olderExpose, expose)
	case map[string]any:
		set(older, olderExpose, opened(expose["enabled"]) != false)
	}
	tidy(older)
	return older
}

// applies reports whether the hub has what the annotation is about.
func (a attribute) applies(hub map[string]any) bool {
	return a.beside == nil || at(hub, a.beside) != nil
}
