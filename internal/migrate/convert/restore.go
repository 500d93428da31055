package convert

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha1"
	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/jsontext"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// restoring describes the values that an annotation may restore in a version. The API server validates a write against
// the schema of the other version, so nothing else validates restored values.
type restoring struct {
	layout
	// annotations lists the annotations that the conversion itself removes.
	annotations []string
	// object returns an empty object of the version's type.
	object func() any
}

var (
	intoHub = restoring{
		layout: hubLayout, annotations: []string{names.AnnotationContainerName},
		object: func() any { return &v1alpha2.LlamaStackDistribution{} },
	}
	intoOlder = restoring{
		layout: olderLayout,
		annotations: []string{
			names.AnnotationContainerName, names.AnnotationUserConfigNamespace, names.AnnotationCABundleNamespace,
			names.AnnotationCompat,
		},
		object: func() any { return &v1alpha1.LlamaStackDistribution{} },
	}
)

// errNotOurs is the error for an annotation that conversion did not write in exactly this form.
var errNotOurs = errors.New("it does not have the form that the conversion writes")

// parseLosses parses the conversion-data annotation in the content of an object.
func parseLosses(content *object) (losses, error) {
	carried := content.lookup(annotationPath(names.AnnotationConversionData))
	if !carried.exists() {
		return losses{}, nil
	}
	text, ok := carried.text()
	if !ok || len(text) > maxAnnotations {
		return losses{}, errNotOurs
	}
	var result losses
	if err := json.Unmarshal([]byte(text), &result); err != nil || string(marshal(result)) != text {
		return losses{}, errNotOurs
	}
	if result.Born != "" && result.Born != bornHub {
		return losses{}, errNotOurs
	}
	return result, nil
}

// restored returns the converted content with the lost values. It restores a lost value only if the visible value is
// still the value that was recorded with the loss. The parameter `visible` is the result of converting `written`. The
// function `back` converts an object to the version of `written`. The fields that are visible in that version must not
// change. If restored returns an error, it restores no value.
func (r restoring) restored(
	l losses, written, visible *object, back func(*object) *object,
) (*object, error) {
	if len(l.Lost) == 0 {
		return visible, nil
	}
	result, skeleton := visible.clone(), visible.another()
	if err := r.restore(l, result, skeleton); err != nil {
		return visible, err
	}
	if !agrees(value{object: back(result)}, value{object: back(visible)}, value{object: written}) {
		return visible, errors.New("it contradicts the fields of the object in this API version")
	}
	if err := r.fits(skeleton); err != nil {
		return visible, err
	}
	return result, nil
}

// restore adds the lost values to the converted content, and to a skeleton, which contains no other values.
func (r restoring) restore(l losses, visible, skeleton *object) error {
	for _, lost := range l.Lost {
		p, ok := parsePointer(lost.Path)
		if !ok || !r.mayRestore(p, lost.Value) {
			return fmt.Errorf("%q is not a valid path", abbreviated(lost.Path))
		}
		if !r.holds(visible, p) {
			continue
		}
		seen := visible.lookup(p)
		if seen.exists() != (lost.Seen != "") || (seen.exists() && digest(seen) != lost.Seen) {
			continue
		}
		if len(lost.Value) == 0 {
			visible.deleteAt(p)
		} else {
			visible.setAt(p, value{raw: lost.Value})
			skeleton.setAt(p, value{raw: lost.Value})
		}
	}
	return nil
}

// agrees reports whether each field of `shown` equals the same field of `visible` or of `written`. The object `shown`
// contains the lost values, and `visible` does not.
func agrees(shown, visible, written value) bool {
	if equal(shown, visible) || equal(shown, written) {
		return true
	}
	fields, others, writes := shown.opened(nil), visible.opened(nil), written.opened(nil)
	if fields == nil || others == nil {
		return false
	}
	for key, both := range pairs(fields, others) {
		here, third := both.a, writes.get(key)
		agreed := here.exists() && both.b.exists() && agrees(here, both.b, third)
		if !agreed && (here.exists() != third.exists() || here.exists() && !equal(here, third)) {
			return false
		}
	}
	return true
}

// mayRestore reports whether a value may be restored at a path. Only a few annotations may be restored, and only as
// strings.
func (r restoring) mayRestore(p path, value json.RawMessage) bool {
	if p[0] == spec {
		_, deepest := jsontext.Cut(value, maxDepth)
		return deepest <= maxDepth-len(p)
	}
	return len(p) == 2 && slices.Contains(r.annotations, p[1]) && (len(value) == 0 || value[0] == '"')
}

// fits returns an error if a client with the version's Go type could not decode the restored values. One object with
// such values would make a whole list unreadable.
func (r restoring) fits(skeleton *object) error {
	data := (&object{members: []member{{spec, skeleton.get(spec)}}}).appendTo(nil)
	if err := utiljson.Unmarshal(data, r.object()); err != nil {
		return fmt.Errorf("a value does not have the type of its field: %w", err)
	}
	return nil
}

// holds reports whether the anchor of the path exists. It returns true for a path without an anchor.
func (r restoring) holds(visible *object, p path) bool {
	for _, anchor := range r.anchors {
		if len(p) > len(anchor) && slices.Equal(p[:len(anchor)], anchor) && visible.lookup(anchor).isNull() {
			return false
		}
	}
	return true
}

// maxQuoted is the maximum length of a string that an error quotes.
const maxQuoted = 80

func abbreviated(text string) string {
	if runes := []rune(text); len(runes) > maxQuoted {
		return string(runes[:maxQuoted-1]) + "…"
	}
	return text
}
