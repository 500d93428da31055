package convert

import (
	"bytes"
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

// roomForLosses is how many bytes most losses have at most.
const roomForLosses = 1 << 10

// appendTo writes losses as marshal does, and faster: most objects have some.
func (l losses) appendTo(dst []byte) []byte {
	dst = append(dst, '{')
	if l.Born != "" {
		dst = appendText(append(dst, `"born":`...), l.Born)
	}
	for i, lost := range l.Lost {
		if i == 0 {
			dst = append(appendComma(dst), `"lost":[`...)
		}
		dst = lost.appendTo(appendComma(dst))
	}
	if len(l.Lost) > 0 {
		dst = append(dst, ']')
	}
	if l.Omitted {
		dst = append(appendComma(dst), `"omitted":true`...)
	}
	return append(dst, '}')
}

func (l loss) appendTo(dst []byte) []byte {
	dst = appendText(append(dst, `{"path":`...), l.Path)
	if l.Seen != "" {
		dst = appendText(append(dst, `,"seen":`...), l.Seen)
	}
	if len(l.Value) > 0 {
		dst = append(append(dst, `,"value":`...), l.Value...)
	}
	return append(dst, '}')
}

// appendComma goes on with a list or an object, unless it has nothing yet.
func appendComma(dst []byte) []byte {
	if last := dst[len(dst)-1]; last == '{' || last == '[' {
		return dst
	}
	return append(dst, ',')
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
func differences(written, visible *object, how layout) ([]loss, bool) {
	f := finder{layout: how, room: maxAnnotations, arena: written.arena}
	f.compare(make(path, 0, maxSteps), value{object: written}, value{object: visible})
	return f.found, f.room >= 0
}

type finder struct {
	layout
	found []loss
	room  int
	arena *arena
}

func (f *finder) compare(p path, written, visible value) {
	if f.room < 0 || written.raw != nil && bytes.Equal(written.raw, visible.raw) {
		return
	}
	fields, others := written.opened(f.arena), visible.opened(f.arena)
	inParts := len(p) < maxSteps && !f.isUnit(p) && (fields != nil || !written.exists()) && (others != nil || !visible.exists())
	if inParts && (fields.size() > 0 || others.size() > 0) {
		for key, both := range pairs(fields, others) {
			f.compare(append(p, key), both.a, both.b)
		}
		if written.exists() {
			return // an object comes into being with what is in it
		}
		visible = value{object: f.arena.object()} // it goes once nothing is left in it
	}
	if written.exists() != visible.exists() || !equal(written, visible) {
		f.add(p, written, visible)
	}
}

// roomForFound is how many differences most objects have at most.
const roomForFound = 8

func (f *finder) add(p path, written, visible value) {
	if len(written.raw) > longestSpelling*f.room {
		f.room = -1
		return
	}
	difference := loss{Path: pointer(p)}
	if visible.exists() {
		difference.Seen = digest(visible)
	}
	if written.exists() {
		difference.Value = encode(written)
	}
	f.room -= len(difference.Path) + len(difference.Value)
	if f.found == nil {
		f.found = make([]loss, 0, roomForFound)
	}
	f.found = append(f.found, difference)
}

func (l layout) isUnit(p path) bool {
	return slices.ContainsFunc(l.units, func(unit path) bool {
		return slices.EqualFunc(unit, p, func(a, b string) bool { return a == "*" || a == b })
	})
}
