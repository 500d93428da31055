package convert

import (
	"errors"
	"fmt"
	"maps"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha1"
	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// ToHub converts a v1alpha1 object, as JSON values, to v1alpha2. It adds the compatibility annotation unless the object
// was created as v1alpha2. It removes the parts of the status that only v1alpha1 has if they can be derived from the
// parts that the hub stores. It does not change the given object.
func ToHub(older map[string]any) map[string]any { return converted(older, toHubObject) }

// FromHub converts a v1alpha2 object, as JSON values, to v1alpha1. It adds the conditions and fields of the status that
// only v1alpha1 has. It does not change the given object.
func FromHub(hub map[string]any) map[string]any { return converted(hub, fromHubObject) }

// converted converts a copy of an object. Its numbers are Go numbers if the object contains Go numbers, and otherwise
// json.Number.
func converted(object tree, convert func(tree) (losses, error)) tree {
	o := fields(jsontext.Value(marshal(object)))
	_, _ = convert(o) // DataProblem reports problems with the annotation
	read := decode
	if hasGoNumber(object) {
		read = decodeNumbers
	}
	result, _ := read(appendJSON(nil, o)).(tree)
	return result
}

// ErrOmitted means that the annotation of the object has no space for the fields that v1alpha1 does not have. Writing
// the object as v1alpha1 removes these fields. After such a write, DataProblem also returns the error for the object in
// v1alpha2, until the object is written again.
var ErrOmitted = errors.New("the annotation has no space for some fields that v1alpha1 does not have; write the object " +
	"as v1alpha2, because writing it as v1alpha1 removes these fields")

// DataProblem returns the problem with the conversion-data annotation of an object of either version, or nil.
// Conversion still accepts the object, and ignores the annotation unless the problem is ErrOmitted. Report the problem
// to users who write the object, because the write discards values.
func DataProblem(object map[string]any) error {
	convert := toHubObject
	if object["apiVersion"] == v1alpha2.GroupVersion.String() {
		convert = fromHubObject
	}
	carried, err := convert(fields(jsontext.Value(marshal(object))))
	if err != nil {
		return fmt.Errorf("annotation %q is ignored: %w; remove the annotation", names.AnnotationConversionData, err)
	}
	if carried.Omitted {
		return fmt.Errorf("annotation %q: %w", names.AnnotationConversionData, ErrOmitted)
	}
	return nil
}

// toHubObject converts a v1alpha1 object to the hub, and returns the decoded annotation. The error is the reason why
// the annotation was ignored.
func toHubObject(o tree) (losses, error) {
	written, carried, err := content(o)
	hub := toHub(written, carried.Born)
	if err == nil {
		hub, err = intoHub.restored(carried, written, hub, toOlder)
	}
	lost, complete := differences(written, toOlder(hub), olderLayout)
	losses{Lost: lost, Omitted: carried.Omitted}.write(hub, complete)
	putContent(o, v1alpha2.GroupVersion.String(), hub)
	statusToHub(o)
	return carried, err
}

// fromHubObject converts a hub object to v1alpha1, and returns the decoded annotation. The error is the reason why the
// annotation was ignored.
func fromHubObject(o tree) (losses, error) {
	written, carried, err := content(o)
	older, origin := toOlder(written), born(written)
	back := func(older tree) tree { return toHub(older, origin) }
	if err == nil {
		older, err = intoOlder.restored(carried, written, older, back)
	}
	lost, complete := differences(written, back(older), hubLayout)
	losses{Born: origin, Lost: lost}.write(older, complete)
	putContent(o, v1alpha1.GroupVersion.String(), older)
	statusFromHub(o)
	return carried, err
}

// born returns the version in which an object was created, or "" for v1alpha1.
func born(hub tree) string {
	if text(fields(hub[annotations])[names.AnnotationCompat]) == names.CompatV1Alpha1 {
		return ""
	}
	return bornHub
}

// bornHub is the value in the annotation of an object that was created as v1alpha2. Writing such an object through
// v1alpha1 does not add the compatibility annotation.
const bornHub = "v1alpha2"

// These are the members of the content of an object: a separate object with only the annotations and the spec.
const (
	annotations = "annotations"
	spec        = "spec"
)

// content returns the content of the given object, and the decoded conversion-data annotation. The content does not
// contain that annotation. If the annotation cannot be decoded, the error states the reason.
func content(o tree) (tree, losses, error) {
	result := tree{}
	put(result, spec, o[spec])
	given := maps.Clone(fields(lookup(o, path{"metadata", annotations})))
	carried, err := parseLosses(given[names.AnnotationConversionData])
	delete(given, names.AnnotationConversionData)
	if len(given) > 0 {
		result[annotations] = given
	}
	return result, carried, err
}

// putContent writes the apiVersion, the converted spec and the converted annotations to an object.
func putContent(o tree, apiVersion string, converted tree) {
	o["apiVersion"] = apiVersion
	put(o, spec, converted[spec])
	metadata := fields(o["metadata"])
	if metadata == nil {
		metadata = tree{}
	}
	put(metadata, annotations, converted[annotations])
	o["metadata"] = metadata
}
