package convert

import (
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha1"
	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
)

// ToHub turns a v1alpha1 object, as values of JSON, into one of v1alpha2. It
// carries the compat mark unless it was born as v1alpha2. older is not changed.
func ToHub(older map[string]any) map[string]any {
	written, carried := content(older)
	hub := toHub(written, carried.Born)
	carried.restore(hub, hubLayout)
	lost := losses{Lost: differences(written, toOlder(hub), olderLayout)}
	lost.write(hub)
	return withContent(older, v1alpha2.GroupVersion.String(), hub)
}

// FromHub turns a v1alpha2 object, as values of JSON, into one of v1alpha1. hub
// is not changed.
func FromHub(hub map[string]any) map[string]any {
	written, carried := content(hub)
	older := toOlder(written)
	carried.restore(older, olderLayout)
	lost := losses{Born: born(written)}
	lost.Lost = differences(written, toHub(older, lost.Born), hubLayout)
	lost.write(older)
	return withContent(hub, v1alpha1.GroupVersion.String(), older)
}

// born is the version that an object was made as, where that is not v1alpha1.
func born(hub map[string]any) string {
	if at(hub, annotationPath(names.AnnotationCompat)) == names.CompatV1Alpha1 {
		return ""
	}
	return bornHub
}

// bornHub stands in the annotation of an object that was made as v1alpha2: a
// write through v1alpha1 does not mark it.
const bornHub = "v1alpha2"

// The parts of an object that conversion looks at, side by side.
const (
	annotations = "annotations"
	spec        = "spec"
)

// content is a copy of annotations and spec, and what an annotation of ours
// carries.
func content(object map[string]any) (map[string]any, losses) {
	result := make(map[string]any)
	if written, ok := object[spec]; ok {
		result[spec] = runtime.DeepCopyJSONValue(written)
	}
	metadata, _ := object["metadata"].(map[string]any)
	if written, ok := metadata[annotations].(map[string]any); ok {
		result[annotations] = runtime.DeepCopyJSONValue(written)
	}
	carried, ours := parseLosses(result)
	if ours {
		deleteAt(result, annotationPath(names.AnnotationConversionData))
	}
	tidy(result)
	return result, carried
}

// tidy leaves annotations out where there are none.
func tidy(content map[string]any) {
	if given, ok := content[annotations].(map[string]any); ok && len(given) == 0 {
		delete(content, annotations)
	}
}

// withContent puts a converted content into a copy of the object it came from.
func withContent(object map[string]any, apiVersion string, converted map[string]any) map[string]any {
	result := runtime.DeepCopyJSON(object)
	result["apiVersion"] = apiVersion
	delete(result, spec)
	if value, ok := converted[spec]; ok {
		result[spec] = value
	}
	metadata, ok := result["metadata"].(map[string]any)
	if !ok {
		metadata = make(map[string]any)
		result["metadata"] = metadata
	}
	delete(metadata, annotations)
	if value, ok := converted[annotations]; ok {
		metadata[annotations] = value
	}
	return result
}
