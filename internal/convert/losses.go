package convert

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
)

// losses are what stands in the annotation `llamastack.io/conversion-data`.
type losses struct {
	// Born is the version that the object was made as; empty is v1alpha1.
	Born string `json:"born,omitempty"`
	// Lost is what the version of this object cannot hold of the other one.
	Lost []loss `json:"lost,omitempty"`
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
		},
		anchors: []path{split("spec.workload.storage")},
	}
	olderLayout = layout{
		units: []path{olderUserConfig, olderAutoscaling, split("spec.server.providers.*")},
	}
)

// differences lists where a content differs from what the other version
// converts to. Objects are compared field by field, so that a field which is
// changed later leaves the others alone.
func differences(written, visible map[string]any, how layout) []loss {
	var found []loss
	how.compare(nil, written, visible, true, true, &found)
	return found
}

func (l layout) compare(p path, written, visible any, isWritten, isVisible bool, found *[]loss) {
	if isWritten == isVisible && digest(written) == digest(visible) {
		return
	}
	fields, isObject := written.(map[string]any)
	others, otherObject := visible.(map[string]any)
	inParts := !l.isUnit(p) && (isObject || !isWritten) && (otherObject || !isVisible)
	if inParts && len(fields)+len(others) > 0 {
		for _, key := range slices.Sorted(maps.Keys(merged(fields, others))) {
			value, here := fields[key]
			other, there := others[key]
			l.compare(append(slices.Clone(p), key), value, other, here, there, found)
		}
		if isWritten {
			return // an object comes into being with what is in it
		}
		visible = make(map[string]any) // it goes once nothing is left in it
	}
	difference := loss{Path: pointer(p)}
	if isVisible {
		difference.Seen = digest(visible)
	}
	if isWritten {
		difference.Value = encode(written)
	}
	*found = append(*found, difference)
}

func (l layout) isUnit(p path) bool {
	return slices.ContainsFunc(l.units, func(unit path) bool {
		return slices.EqualFunc(unit, p, func(a, b string) bool { return a == "*" || a == b })
	})
}

// restore puts what was lost back into a converted content, where that says what
// it said when the loss was noted.
func (l losses) restore(visible map[string]any, how layout) {
	for _, lost := range l.Lost {
		p, ok := parsePointer(lost.Path)
		if !ok || !how.holds(visible, p) {
			continue
		}
		value, isVisible := lookup(visible, p)
		if isVisible != (lost.Seen != "") || (isVisible && digest(value) != lost.Seen) {
			continue
		}
		if len(lost.Value) == 0 {
			deleteAt(visible, p)
		} else if restored, err := decode(lost.Value); err == nil {
			set(visible, p, restored)
		}
	}
}

// holds reports whether the object, which the place is a mere part of, is there.
func (l layout) holds(visible map[string]any, p path) bool {
	for _, anchor := range l.anchors {
		if len(p) > len(anchor) && slices.Equal(p[:len(anchor)], anchor) && at(visible, anchor) == nil {
			return false
		}
	}
	return true
}

// parseLosses reads the annotation. What is not exactly as it is written here is
// no annotation of ours.
func parseLosses(content map[string]any) (losses, bool) {
	var result losses
	text, ok := at(content, annotationPath(names.AnnotationConversionData)).(string)
	if !ok {
		return losses{}, false
	}
	if err := json.Unmarshal([]byte(text), &result); err != nil || string(encode(result)) != text {
		return losses{}, false
	}
	return result, true
}

// write adds the annotation, if there is anything to say.
func (l losses) write(content map[string]any) {
	if l.Born != "" || len(l.Lost) > 0 {
		set(content, annotationPath(names.AnnotationConversionData), string(encode(l)))
	}
}

// digestLength is how many hex digits tell two values of one field apart.
const digestLength = 16

func digest(value any) string {
	sum := sha256.Sum256(encode(value))
	return hex.EncodeToString(sum[:])[:digestLength]
}

// encode writes JSON without HTML escapes; maps are sorted.
func encode(value any) []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil // values of JSON can be encoded
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// decode reads one JSON value; numbers stay as they were written.
func decode(data []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var value any
	err := decoder.Decode(&value)
	return value, err
}

var (
	escapePointer   = strings.NewReplacer("~", "~0", "/", "~1")
	unescapePointer = strings.NewReplacer("~1", "/", "~0", "~")
)

func pointer(p path) string {
	var b strings.Builder
	for _, step := range p {
		b.WriteString("/" + escapePointer.Replace(step))
	}
	return b.String()
}

// parsePointer reads the path of a loss: below annotations, or spec.
func parsePointer(text string) (path, bool) {
	steps := strings.Split(text, "/")
	if len(steps) < 2 || steps[0] != "" || (steps[1] != annotations && steps[1] != spec) {
		return nil, false
	}
	p := make(path, 0, len(steps)-1)
	for _, step := range steps[1:] {
		p = append(p, unescapePointer.Replace(step))
	}
	return p, true
}
