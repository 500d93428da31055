package convert

import (
	"encoding/json"
	"slices"
)

// losses are what stands in the annotation `llamastack.io/conversion-data`.
type losses struct {
	// Born is the version that the object was made as; empty is v1alpha1.
	Born string `json:"born,omitempty"`
	// Lost is what the version of this object cannot hold of the other one.
	Lost []loss `json:"lost,omitempty"`
	// Omitted says that it is more than annotations may have, so that Lost has
	// none of it. Who writes such an object back in this version loses it.
	Omitted bool `json:"omitted,omitempty"`
}

// loss is one place where the other version says something else than what this
// version converts to.
type loss struct {
	// Path is the place in the other version, as a JSON pointer from
	// `/annotations` or `/spec`.
	Path string `json:"path"`
	// Seen is the digest of what this version converts to there; empty is
	// nothing. Another digest: the field was changed since, and that counts.
	Seen string `json:"seen,omitempty"`
	// Value is what the other version says; missing is nothing.
	Value json.RawMessage `json:"value,omitempty"`
}

// layout says how the content of a version is compared.
type layout struct {
	// units are compared and restored whole: a part of one alone would mean
	// something else. A step `*` is any.
	units []path
	// anchors are objects whose further fields mean nothing without them.
	anchors []path
}

var (
	hubLayout = layout{
		units: []path{
			split("spec.distribution"), split("spec.overrideConfig"), hubExpose, split("spec.providers.*"),
			split("spec.settings"), split("spec.workload.overrides.podTemplate"),
		},
		anchors: []path{split("spec.workload.storage")},
	}
	olderLayout = layout{
		units: []path{olderUserConfig, olderAutoscaling, split("spec.server.providers.*")},
	}
)

// longestSpelling is by how many times a text may be longer than it has to be:
// "<" is six bytes in the API server's JSON.
const longestSpelling = 6

// maxSteps is how deep the places of losses lie at most. No field with a
// counterpart lies deeper; what does is part of a value.
const maxSteps = 8

// differences lists where a content differs from what the other version
// converts to. Objects are compared field by field, so that a field which is
// changed later leaves the others alone. It reports whether that is all: it ends
// when there is more than annotations may have.
func differences(written, visible map[string]any, how layout) ([]loss, bool) {
	f := finder{layout: how, room: maxAnnotations}
	f.compare(nil, written, visible, true, true)
	return f.found, f.room >= 0
}

type finder struct {
	layout
	found []loss
	room  int
}

func (f *finder) compare(p path, written, visible any, isWritten, isVisible bool) {
	if f.room < 0 || (isWritten == isVisible && equal(written, visible)) {
		return
	}
	fields, isObject := object(written)
	others, otherObject := object(visible)
	inParts := len(p) < maxSteps && !f.isUnit(p) && (isObject || !isWritten) && (otherObject || !isVisible)
	if inParts && len(fields)+len(others) > 0 {
		for _, key := range sortedKeys(fields, others) {
			value, here := fields[key]
			other, there := others[key]
			f.compare(append(slices.Clone(p), key), value, other, here, there)
		}
		if isWritten {
			return // an object comes into being with what is in it
		}
		visible = make(map[string]any) // it goes once nothing is left in it
	}
	f.add(p, written, visible, isWritten, isVisible)
}

func (f *finder) add(p path, written, visible any, isWritten, isVisible bool) {
	if raw, ok := written.(json.RawMessage); ok && len(raw) > longestSpelling*f.room {
		f.room = -1
		return
	}
	difference := loss{Path: pointer(p)}
	if isVisible {
		difference.Seen = digest(visible)
	}
	if isWritten {
		difference.Value = encode(written)
	}
	f.room -= len(difference.Path) + len(difference.Value)
	f.found = append(f.found, difference)
}

func (l layout) isUnit(p path) bool {
	return slices.ContainsFunc(l.units, func(unit path) bool {
		return slices.EqualFunc(unit, p, func(a, b string) bool { return a == "*" || a == b })
	})
}
