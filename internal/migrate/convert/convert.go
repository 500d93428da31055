package convert

import (
	"errors"
	"fmt"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha1"
	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// ToHub converts a v1alpha1 object, as JSON values, to v1alpha2. It adds the compatibility annotation unless the object
// was created as v1alpha2. It removes the parts of the status that only v1alpha1 has if they can be derived from the
// parts that the hub stores. It does not change the given object.
func ToHub(older map[string]any) map[string]any {
	tree := treeOf(older)
	_, _ = toHubObject(tree) // DataProblem reports problems with the annotation
	return tree.values(decoderFor(older))
}

// FromHub converts a v1alpha2 object, as JSON values, to v1alpha1. It adds the conditions and fields of the status that
// only v1alpha1 has. It does not change the given object.
func FromHub(hub map[string]any) map[string]any {
	tree := treeOf(hub)
	_, _ = fromHubObject(tree)
	return tree.values(decoderFor(hub))
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
	carried, err := convert(treeOf(object))
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
func toHubObject(o *object) (losses, error) {
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
func fromHubObject(o *object) (losses, error) {
	written, carried, err := content(o)
	older, origin := toOlder(written), born(written)
	back := func(older *object) *object { return toHub(older, origin) }
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
func born(hub *object) string {
	if hub.lookup(annotationPath(names.AnnotationCompat)).is(names.CompatV1Alpha1) {
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
func content(o *object) (*object, losses, error) {
	result := o.another()
	if written := o.get(spec); written.exists() {
		result.set(spec, written)
	}
	if written := o.objectAt("metadata", annotations); written != nil {
		result.set(annotations, value{object: written})
	}
	carried, err := parseLosses(result)
	result.deleteAt(annotationPath(names.AnnotationConversionData))
	tidy(result)
	return result, carried, err
}

// tidy removes the member `annotations` from the content of an object if that member is empty.
func tidy(content *object) {
	if given := content.objectAt(annotations); given != nil && given.size() == 0 {
		content.delete(annotations)
	}
}

// putContent writes the apiVersion, the converted spec and the converted annotations to an object.
func putContent(o *object, apiVersion string, converted *object) {
	o.set("apiVersion", rawText(apiVersion))
	o.put(spec, converted.get(spec))
	metadata := o.objectAt("metadata")
	if metadata == nil {
		metadata = o.another()
		o.set("metadata", value{object: metadata})
	}
	metadata.put(annotations, converted.get(annotations))
}
