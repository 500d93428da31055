package manifest

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha1"
)

// lastApplied is kubectl's annotation with the manifest that was applied last.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// addedByServer are the fields of the metadata that an API server writes.
var addedByServer = []string{
	"creationTimestamp", "deletionGracePeriodSeconds", "deletionTimestamp", "generation", "managedFields", "resourceVersion", "selfLink", "uid",
}

// Live reports whether an object, as JSON, has something that an API server, or kubectl, has added to what was written.
func Live(data []byte) bool {
	var object map[string]any
	if json.Unmarshal(data, &object) != nil {
		return false
	}
	metadata, _ := object["metadata"].(map[string]any)
	given, _ := metadata["annotations"].(map[string]any)
	_, status := object["status"]
	_, applied := given[lastApplied]
	return status || applied || slices.ContainsFunc(addedByServer, func(field string) bool { _, ok := metadata[field]; return ok })
}

// clean takes away what is no part of a manifest.
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

// setDefaults adds what the schema of v1alpha1 adds to an object before it is converted, as far as the conversion looks at
// it. A number of replicas means the same where it is added afterwards.
func setDefaults(older map[string]any) {
	if network, ok := child(older, "spec", "network"); ok {
		setMissing(network, "exposeRoute", false)
	}
	if container, ok := child(older, "spec", "server", "containerSpec"); ok {
		setMissing(container, "name", v1alpha1.DefaultContainerName)
	}
}

func setMissing(object map[string]any, key string, value any) {
	if object[key] == nil { // null is the same as nothing where there is a default
		object[key] = value
	}
}

// child is an object within an object.
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
