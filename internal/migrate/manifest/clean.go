package manifest

import (
	"encoding/json"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha1"
)

// lastApplied is the annotation that contains the manifest that kubectl applied last.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// addedByServer lists the fields of the metadata that an API server sets.
var addedByServer = []string{
	"creationTimestamp", "deletionGracePeriodSeconds", "deletionTimestamp", "generation", "managedFields",
	"resourceVersion", "selfLink", "uid",
}

// Live reports whether an object in JSON contains fields that an API server or kubectl added.
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

// clean removes the fields that an API server or kubectl added.
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

// setDefaults adds the defaults of the v1alpha1 schema that affect the conversion of an object. It omits the
// default number of replicas, which has the same effect if it is added after the conversion.
func setDefaults(older map[string]any) {
	if network, ok := child(older, "spec", "network"); ok {
		setMissing(network, "exposeRoute", false)
	}
	if container, ok := child(older, "spec", "server", "containerSpec"); ok {
		setMissing(container, "name", v1alpha1.DefaultContainerName)
	}
}

func setMissing(object map[string]any, key string, value any) {
	if object[key] == nil { // null has the same effect as a missing field
		object[key] = value
	}
}

// child returns a nested object, and false if there is none.
func child(object map[string]any, steps ...string) (map[string]any, bool) {
	value, _, _ := unstructured.NestedFieldNoCopy(object, steps...) // a value that is not an object has no fields
	inner, ok := value.(map[string]any)
	return inner, ok
}
