package convert

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
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
	Path jsontext.Pointer `json:"path"`
	// Seen is the digest of the value that conversion produces for this place. Empty means no value. If the current value
	// has a different digest, the field has been changed since, and the change takes precedence.
	Seen string `json:"seen,omitempty"`
	// Value is the value in the other version. If it is missing, the other version has no value.
	Value jsontext.Value `json:"value,omitempty"`
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

// longestEscape is the number of bytes that the longest encoding of a byte has in addition: "<" can be six bytes.
const longestEscape = 5

// maxSteps bounds the depth of the paths of losses. No field with a counterpart has a deeper path.
const maxSteps = 8

// differences lists the places where `written`, the content of an object, differs from `visible`, the content that
// conversion produces. It compares objects field by field, so that a later change to one field does not affect the
// others. It stops when the list exceeds the limit for annotations, and reports whether the list is complete.
func differences(written, visible tree, how layout) ([]loss, bool) {
	f := finder{layout: how, room: maxAnnotations}
	f.compare(make(path, 0, maxSteps), written, visible)
	// An object follows its content, because restoring removes the content first.
	const after = "/\xff"
	slices.SortFunc(f.found, func(a, b loss) int { return cmp.Compare(a.Path+after, b.Path+after) })
	return f.found, f.room >= 0
}

type finder struct {
	layout
	found []loss
	room  int
}

func (f *finder) compare(p path, written, visible any) {
	if f.room < 0 || sameText(written, visible) {
		return
	}
	var here, there tree
	if len(p) < maxSteps && !f.isUnit(p) && hasParts(written) && hasParts(visible) {
		here, there = fields(written), fields(visible)
	}
	if len(here)+len(there) > 0 {
		for key, v := range here {
			f.compare(append(p, key), v, there[key])
		}
		for key, v := range there {
			if here[key] == nil {
				f.compare(append(p, key), nil, v)
			}
		}
		if written != nil {
			return // restoring the content of an object creates the object
		}
		visible = tree{} // restoring removes an object without content
	}
	if (written == nil) != (visible == nil) || !equal(written, visible) {
		f.add(p, written, visible)
	}
}

// hasParts reports whether a value is missing or an object.
func hasParts(v any) bool { return v == nil || kind(v) == '{' }

func (f *finder) add(p path, written, visible any) {
	// Encoding a value takes many times its size, so a value that cannot have room is not encoded.
	if raw, _ := written.(jsontext.Value); len(raw)-longestEscape*bytes.Count(raw, []byte(`\`)) > maxAnnotations {
		f.room = -1
		return
	}
	difference := loss{Path: pointer(p)}
	if visible != nil {
		difference.Seen = digest(visible)
	}
	if written != nil {
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

// pointer returns a path as a JSON pointer.
func pointer(p path) (found jsontext.Pointer) {
	for _, step := range p {
		found = found.AppendToken(step)
	}
	return found
}

// parsePointer parses the path of a loss, which begins with `annotations` or `spec`. It returns false for any other
// text, and for a path with more than maxSteps steps.
func parsePointer(text jsontext.Pointer) (path, bool) {
	p := path(slices.Collect(text.Tokens()))
	return p, text.IsValid() && len(p) > 0 && len(p) <= maxSteps && (p[0] == annotations || p[0] == spec)
}
