package convert

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha1"
	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/nesting"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/typecheck"
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

// parseLosses parses the conversion-data annotation.
func parseLosses(annotation any) (losses, error) {
	if annotation == nil {
		return losses{}, nil
	}
	written := text(annotation)
	var result losses
	if len(written) > maxAnnotations || json.Unmarshal([]byte(written), &result) != nil ||
		string(marshal(result)) != written || result.Born != "" && result.Born != bornHub {
		return losses{}, errNotOurs
	}
	return result, nil
}

// restored returns the converted content with the lost values. It restores a lost value only if the visible value is
// still the value that was recorded with the loss. The parameter `visible` is the result of converting `written`. The
// function `back` converts an object to the version of `written`. The fields that are visible in that version must not
// change. If restored returns an error, it restores no value.
func (r restoring) restored(l losses, written, visible tree, back func(tree) tree) (tree, error) {
	if len(l.Lost) == 0 {
		return visible, nil
	}
	result, skeleton := clone(visible), tree{}
	if err := r.restore(l, result, skeleton); err != nil {
		return visible, err
	}
	if !agrees(back(result), back(visible), written) {
		return visible, errors.New("it contradicts the fields of the object in this API version")
	}
	if err := r.fits(skeleton); err != nil {
		return visible, err
	}
	return result, nil
}

// restore adds the lost values to the converted content, and to a skeleton, which contains no other values.
func (r restoring) restore(l losses, visible, skeleton tree) error {
	for _, lost := range l.Lost {
		p, ok := parsePointer(lost.Path)
		if !ok || !r.mayRestore(p, lost.Value) {
			return fmt.Errorf("%q is not a valid path", abbreviated(string(lost.Path)))
		}
		if !r.holds(visible, p) {
			continue
		}
		seen := lookup(visible, p)
		if (seen != nil) != (lost.Seen != "") || (seen != nil && digest(seen) != lost.Seen) {
			continue
		}
		if len(lost.Value) == 0 {
			deleteAt(visible, p)
		} else {
			setAt(visible, p, lost.Value)
			setAt(skeleton, p, lost.Value)
		}
	}
	return nil
}

// agrees reports whether each field of `shown` equals the same field of `visible` or of `written`. The object `shown`
// contains the lost values, and `visible` does not.
func agrees(shown, visible, written any) bool {
	if equal(shown, visible) || equal(shown, written) {
		return true
	}
	here, others, writes := fields(shown), fields(visible), fields(written)
	if here == nil || others == nil {
		return false
	}
	for key := range others {
		if here[key] == nil && writes[key] != nil {
			return false
		}
	}
	for key, v := range here {
		agreed := others[key] != nil && agrees(v, others[key], writes[key])
		if !agreed && (writes[key] == nil || !equal(v, writes[key])) {
			return false
		}
	}
	return true
}

// mayRestore reports whether a value may be restored at a path. Only a few annotations may be restored, and only as
// strings.
func (r restoring) mayRestore(p path, value jsontext.Value) bool {
	if p[0] == spec {
		_, deepest := nesting.Cut(value, maxDepth)
		return deepest <= maxDepth-len(p)
	}
	return len(p) == 2 && slices.Contains(r.annotations, p[1]) && (len(value) == 0 || value[0] == '"')
}

// fits returns an error if a client with the version's Go type could not decode the restored values. One object with
// such values would make a whole list unreadable. Any pod can send such an object to the webhook, so a quantity that
// takes long to decode does not fit either.
func (r restoring) fits(skeleton tree) error {
	delete(skeleton, annotations)
	data, into := appendJSON(nil, skeleton), r.object()
	if costly := typecheck.Costly(data, reflect.TypeOf(into)); len(costly) > 0 {
		return fmt.Errorf("a value does not have the type of its field: %s", costly[0])
	}
	if err := utiljson.Unmarshal(data, into); err != nil {
		return fmt.Errorf("a value does not have the type of its field: %w", err)
	}
	return nil
}

// holds reports whether the anchor of the path exists. It returns true for a path without an anchor.
func (r restoring) holds(visible tree, p path) bool {
	for _, anchor := range r.anchors {
		if len(p) > len(anchor) && slices.Equal(p[:len(anchor)], anchor) && isNull(lookup(visible, anchor)) {
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
