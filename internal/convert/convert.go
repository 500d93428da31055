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
	tree := treeOf(older)
	_, _ = toHubObject(tree) // what its annotation has is for DataProblem
	return tree.values(decoderFor(older))
}

// FromHub turns a v1alpha2 object, as values of JSON, into one of v1alpha1, with the
// conditions and fields of the status that only v1alpha1 has. hub is not changed.
func FromHub(hub map[string]any) map[string]any {
	tree := treeOf(hub)
	_, _ = fromHubObject(tree)
	return tree.values(decoderFor(hub))
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
	convert := toHubObject
	if object["apiVersion"] == v1alpha2.GroupVersion.String() {
		convert = fromHubObject
	}
	carried, err := convert(treeOf(object))
	if err != nil {
		return fmt.Errorf("annotation %q is ignored: %w: remove it", names.AnnotationConversionData, err)
	}
	if carried.Omitted {
		return fmt.Errorf("annotation %q: %w", names.AnnotationConversionData, ErrOmitted)
	}
	return nil
}

// toHubObject makes an older object one of the hub, and returns what its
// annotation carried. An error says why that was ignored.
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

// fromHubObject makes an object of the hub an older one, and returns what its
// annotation carried. An error says why that was ignored.
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

// born is the version that an object was made as, where that is not v1alpha1.
func born(hub *object) string {
	if hub.lookup(annotationPath(names.AnnotationCompat)).says(names.CompatV1Alpha1) {
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

// content are the annotations and the spec of an object, and what an annotation of
// ours carries.
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

// tidy leaves annotations out where there are none.
func tidy(content *object) {
	if given := content.objectAt(annotations); given != nil && given.size() == 0 {
		content.delete(annotations)
	}
}

// putContent puts a converted content into the object it came from.
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
