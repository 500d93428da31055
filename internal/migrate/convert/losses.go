package convert

import (
	"bytes"
	"encoding/json"
	"slices"
)

// losses is the content of the annotation `llamastack.io/conversion-data`.
type losses struct {
	// Born is the version in which the object was created. Empty means v1alpha1.
	Born string `json:"born,omitempty"`
	// Lost lists the values of the other version that the version of this object cannot hold.
	Lost []loss `json:"lost,omitempty"`
	// Omitted reports whether the lost values exceed the limit for annotations. If Omitted is true, Lost is empty, and
	// writing the object back in this version discards the lost values.
	Omitted bool `json:"omitted,omitempty"`
}

// loss is a place where the value in the other version differs from the value that conversion produces.
type loss struct {
	// Path is the place in the other version, as a JSON pointer from `/annotations` or `/spec`.
	Path string `json:"path"`
	// Seen is the digest of the value that conversion produces for this place. Empty means no value. If the current value
	// has a different digest, the field has been changed since, and the change takes precedence.
	Seen string `json:"seen,omitempty"`
	// Value is the value in the other version. If it is missing, the other version has no value.
	Value json.RawMessage `json:"value,omitempty"`
}

// roomForLosses is the size in bytes that is enough for most losses.
const roomForLosses = 1 << 10

// appendTo appends losses as marshal writes them, but is faster than marshal. Most objects have losses.
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

// appendComma appends a comma to a list or an object that is not empty.
func appendComma(dst []byte) []byte {
	if last := dst[len(dst)-1]; last == '{' || last == '[' {
		return dst
	}
	return append(dst, ',')
}

// layout controls how conversion compares the contents of two objects of the same version.
type layout struct {
	// units are the paths of values that conversion compares and restores as a whole, because a part of such a value would
	// have a different meaning. The step `*` matches any key.
	units []path
	// anchors are objects whose lost fields are restored only if the objects still exist.
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

// longestSpelling is the maximum ratio between the encoded length of a string and its shortest encoding. The ratio is
// six, because the API server encodes "<" in six bytes.
const longestSpelling = 6

// maxSteps bounds the depth of the paths of losses. No field with a counterpart has a deeper path.
const maxSteps = 8

// differences lists the places where `written`, the content of an object, differs from `visible`, the content that
// conversion produces. It compares objects field by field, so that a later change to one field does not affect the
// others. It stops when the list exceeds the limit for annotations, and reports whether the list is complete.
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
	inParts := len(p) < maxSteps && !f.isUnit(p) && (fields != nil || !written.exists()) &&
		(others != nil || !visible.exists())
	if inParts && (fields.size() > 0 || others.size() > 0) {
		for key, both := range pairs(fields, others) {
			f.compare(append(p, key), both.a, both.b)
		}
		if written.exists() {
			return // restoring the content of an object creates the object
		}
		visible = value{object: f.arena.object()} // restoring removes an object without content
	}
	if written.exists() != visible.exists() || !equal(written, visible) {
		f.add(p, written, visible)
	}
}

// roomForFound is the initial capacity for differences. It is enough for most objects.
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
