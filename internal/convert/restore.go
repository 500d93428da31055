package convert

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha1"
	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
)

// restoring says what an annotation may bring back into a version. The schema
// that the API server checks a write by is the other version's: nothing else
// looks at what comes back.
type restoring struct {
	layout
	// annotations are those that the conversion itself takes away.
	annotations []string
	// object is an empty one of the version's type.
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

// errNotOurs is said of an annotation that is not exactly as it is written here.
var errNotOurs = errors.New("it is not as conversion writes it")

// parseLosses reads the annotation of a content.
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

// restored is a converted content with what was lost, where the content says
// what it said when the loss was noted. It comes from written, and back converts
// into that version: what can be seen there stays as it is. An error says why
// nothing comes back.
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
		return visible, errors.New("it says something else than the fields that this version has")
	}
	if err := r.fits(skeleton); err != nil {
		return visible, err
	}
	return result, nil
}

// restore puts into a content what was lost, and into a skeleton just that.
func (r restoring) restore(l losses, visible, skeleton *object) error {
	for _, lost := range l.Lost {
		p, ok := parsePointer(lost.Path)
		if !ok || !r.mayRestore(p, lost.Value) {
			return fmt.Errorf("%q is no place of it", abbreviated(lost.Path))
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

// agrees reports whether what a version shows of an object with what was lost is,
// field by field, what it shows of the object without, or what is written.
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

// mayRestore reports whether a value may come back at a place. Of annotations
// these are few, each a text.
func (r restoring) mayRestore(p path, value json.RawMessage) bool {
	if p[0] == spec {
		return depthOf(value) <= maxDepth-len(p)
	}
	return len(p) == 2 && slices.Contains(r.annotations, p[1]) && (len(value) == 0 || value[0] == '"')
}

// fits reports what in the values that come back a reader of the version's type
// would stumble over. One such object breaks a whole list of them.
func (r restoring) fits(skeleton *object) error {
	data := (&object{members: []member{{spec, skeleton.get(spec)}}}).appendTo(nil)
	if err := utiljson.Unmarshal(data, r.object()); err != nil {
		return fmt.Errorf("it has a value of another type than its field: %w", err)
	}
	return nil
}

// holds reports whether the object, which the place is a mere part of, is there.
func (r restoring) holds(visible *object, p path) bool {
	for _, anchor := range r.anchors {
		if len(p) > len(anchor) && slices.Equal(p[:len(anchor)], anchor) && visible.lookup(anchor).isNull() {
			return false
		}
	}
	return true
}

// maxQuoted bounds the text of an annotation that an error repeats.
const maxQuoted = 80

func abbreviated(text string) string {
	if runes := []rune(text); len(runes) > maxQuoted {
		return string(runes[:maxQuoted-1]) + "…"
	}
	return text
}
