package manifest

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha1"
)

// lastApplied is kubectl's annotation with the manifest that was applied last.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// addedByServer lists the metadata fields that an API server writes.
var addedByServer = []string{
	"creationTimestamp", "deletionGracePeriodSeconds", "deletionTimestamp", "generation", "managedFields",
	"resourceVersion", "selfLink", "uid",
}

// Live reports whether an object, as JSON, has fields that an API server or kubectl added.
func Live(data []byte) bool {
	var object map[string]any
	if json.Unmarshal(data, &object) != nil {
		return false
	}
	metadata, _ := object["metadata"].(map[string]any)
	given, _ := metadata["annotations"].(map[string]any)
	_, status := object["status"]
	_, applied := given[lastApplied]
	return status || applied || slices.ContainsFunc(addedByServer,
		func(field string) bool { _, ok := metadata[field]; return ok })
}

// clean removes the fields that do not belong in a manifest.
func clean(object map[string]any) {
	delete(object, "status")
	metadata, _ := object["metadata"].(map[string]any)
	maps.DeleteFunc(metadata, func(field string, _ any) bool { return slices.Contains(addedByServer, field) })
	given, _ := metadata["annotations"].(map[string]any)
	delete(given, lastApplied)
	if given != nil && len(given) == 0 {
		delete(metadata, "annotations")
	}
}

// setDefaults adds those defaults of the v1alpha1 schema that affect the conversion of an object. The default number of
// replicas has the same effect if it is added after the conversion.
func setDefaults(older map[string]any) {
	if network, ok := child(older, "spec", "network"); ok {
		setMissing(network, "exposeRoute", false)
	}
	if container, ok := child(older, "spec", "server", "containerSpec"); ok {
		setMissing(container, "name", v1alpha1.DefaultContainerName)
	}
}

func setMissing(object map[string]any, key string, value any) {
	if object[key] == nil { // for a field with a default, null is the same as a missing field
		object[key] = value
	}
}

// child returns a nested object.
func child(object map[string]any, steps ...string) (map[string]any, bool) {
	for _, step := range steps {
		inner, ok := object[step].(map[string]any)
		if !ok {
			return nil, false
		}
		object = inner
	}
	return object, true
}
