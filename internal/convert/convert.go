package convert

import (
	"errors"
	"fmt"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha1"
	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
)

// ToHub turns a v1alpha1 object, as values of JSON, into one of v1alpha2. It
// carries the compat mark unless it was born as v1alpha2. Of its status goes what
// only v1alpha1 has, where it follows from what the hub stores. older is not changed.
func ToHub(older map[string]any) map[string]any {
	hub, _ := toHubObject(older)
	plain(hub)
	return hub
}

// FromHub turns a v1alpha2 object, as values of JSON, into one of v1alpha1, with the
// conditions and fields of the status that only v1alpha1 has. hub is not changed.
func FromHub(hub map[string]any) map[string]any {
	older, _ := fromHubObject(hub)
	plain(older)
	return older
}

// ErrOmitted says that an object had more than v1alpha1 can show and its
// annotation can carry: who writes it as v1alpha1 loses that. It stays with the
// object in v1alpha2 until it is written anew.
var ErrOmitted = errors.New("it had no room for all that v1alpha1 does not show, so that writing the object as v1alpha1 removes that: " +
	"write the object as v1alpha2")

// DataProblem says what is wrong with the annotation conversion-data of an
// object of either version; nil: nothing. Conversion takes the object all the
// same, and ignores the annotation unless this is an ErrOmitted. Who writes the
// object should be told, for what the annotation was to bring back is lost.
func DataProblem(object map[string]any) error {
	convert, holders := toHubObject, olderHolders
	if object["apiVersion"] == v1alpha2.GroupVersion.String() {
		convert, holders = fromHubObject, hubHolders
	}
	if _, err := convert(object); err != nil {
		return fmt.Errorf("annotation %q is ignored: %w: remove it", names.AnnotationConversionData, err)
	}
	if _, carried, _ := content(object, holders); carried.Omitted {
		return fmt.Errorf("annotation %q: %w", names.AnnotationConversionData, ErrOmitted)
	}
	return nil
}

// toHubObject is ToHub. An error says why the annotation was ignored.
func toHubObject(older map[string]any) (map[string]any, error) {
	written, carried, err := content(older, olderHolders)
	hub := toHub(written, carried.Born)
	if err == nil {
		hub, err = intoHub.restored(carried, written, hub, toOlder)
	}
	lost, complete := differences(written, toOlder(hub), olderLayout)
	losses{Lost: lost, Omitted: carried.Omitted}.write(hub, complete)
	result := withContent(older, v1alpha2.GroupVersion.String(), hub)
	statusToHub(result)
	return result, err
}

// fromHubObject is FromHub. An error says why the annotation was ignored.
func fromHubObject(hub map[string]any) (map[string]any, error) {
	written, carried, err := content(hub, hubHolders)
	older, origin := toOlder(written), born(written)
	back := func(older map[string]any) map[string]any { return toHub(older, origin) }
	if err == nil {
		older, err = intoOlder.restored(carried, written, older, back)
	}
	lost, complete := differences(written, back(older), hubLayout)
	losses{Born: origin, Lost: lost}.write(older, complete)
	result := withContent(hub, v1alpha1.GroupVersion.String(), older)
	statusFromHub(result)
	return result, err
}

// born is the version that an object was made as, where that is not v1alpha1.
func born(hub map[string]any) string {
	if at(hub, annotationPath(names.AnnotationCompat)) == any(names.CompatV1Alpha1) {
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
// carries. Objects that conversion looks into are opened, so that they are read
// once.
func content(object map[string]any, holders []path) (map[string]any, losses, error) {
	result := make(map[string]any)
	if written, ok := object[spec]; ok {
		result[spec] = clone(written)
	}
	if written, ok := at(object, path{"metadata", annotations}).(map[string]any); ok {
		result[annotations] = cloneObject(written)
	}
	carried, err := parseLosses(result)
	deleteAt(result, annotationPath(names.AnnotationConversionData))
	tidy(result)
	for _, p := range holders {
		_ = at(result, p)
	}
	return result, carried, err
}

// tidy leaves annotations out where there are none.
func tidy(content map[string]any) {
	if given, ok := content[annotations].(map[string]any); ok && len(given) == 0 {
		delete(content, annotations)
	}
}

// withContent puts a converted content into a copy of the object it came from.
func withContent(object map[string]any, apiVersion string, converted map[string]any) map[string]any {
	result := cloneObject(object)
	result["apiVersion"] = apiVersion
	delete(result, spec)
	if value, ok := converted[spec]; ok {
		result[spec] = value
	}
	metadata, ok := at(result, path{"metadata"}).(map[string]any)
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
