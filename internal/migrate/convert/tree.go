package convert

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// tree is a JSON object. Conversion opens only the objects that its rules read. All other values of an object that was
// read from JSON are a jsontext.Value, which is copied byte by byte. A missing value is nil, and a null is `null`.
type tree = map[string]any

// lenient makes a decoder accept exactly what encoding/json accepts. If a key occurs more than once, the last value
// takes effect.
var lenient = []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}

// opener opens JSON text. Values share the memory of the text.
type opener struct {
	*jsontext.Decoder
	text []byte
}

// decoders holds decoders for reuse. Allocating them would take a fifth of the time of a conversion.
var decoders = sync.Pool{New: func() any { return new(jsontext.Decoder) }}

func newOpener(text []byte) opener {
	decoder := decoders.Get().(*jsontext.Decoder) //nolint:forcetypeassert // only this function fills the pool
	decoder.Reset(bytes.NewBuffer(text), lenient...)
	return opener{decoder, text}
}

// close returns the decoder to the pool, without the text.
func (o opener) close() {
	o.Reset(&bytes.Buffer{})
	decoders.Put(o.Decoder)
}

// open reads a JSON value, and opens it if it is an object. It does not open nested objects.
func open(text []byte) (v any, err error) {
	o := newOpener(text)
	defer o.close()
	if o.PeekKind() == '{' {
		v, err = o.object()
	} else {
		v, err = o.value()
	}
	if err != nil {
		return nil, err
	}
	if _, err := o.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errors.New("the value is followed by other data")
	}
	return v, nil
}

func (o opener) value() (any, error) {
	v, err := o.ReadValue()
	end := o.InputOffset()
	return jsontext.Value(o.text[end-int64(len(v)) : end : end]), err
}

func (o opener) object() (tree, error) {
	_, _ = o.ReadToken()
	result := tree{}
	for o.PeekKind() != '}' {
		key, err := o.ReadToken()
		if err != nil {
			return nil, err
		}
		name := key.String()
		if result[name], err = o.value(); err != nil {
			return nil, err
		}
	}
	_, err := o.ReadToken()
	return result, err
}

// kind returns the kind of a value, which is that of null for a missing value.
func kind(v any) jsontext.Kind {
	switch v := v.(type) {
	case jsontext.Value:
		return v.Kind()
	case tree:
		return '{'
	case []any:
		return '['
	case string:
		return '"'
	case bool:
		if v {
			return 't'
		}
		return 'f'
	case nil:
		return 'n'
	default:
		return '0'
	}
}

// isNull reports whether a value is null or missing.
func isNull(v any) bool { return kind(v) == 'n' }

// fields returns the members of a value, or nil if the value is not an object.
func fields(v any) tree {
	raw, ok := v.(jsontext.Value)
	if !ok || raw.Kind() != '{' {
		opened, _ := v.(tree)
		return opened
	}
	o := newOpener(raw)
	defer o.close()
	opened, _ := o.object()
	return opened
}

// member returns the value of one of the given keys, or nil if the value is not an object with such a key. It takes
// less time and memory than fields.
func member(v any, keys ...string) any {
	raw, ok := v.(jsontext.Value)
	if !ok || raw.Kind() != '{' {
		for _, key := range keys {
			if found := fields(v)[key]; found != nil {
				return found
			}
		}
		return nil
	}
	o := newOpener(raw)
	defer o.close()
	var found any
	_, _ = o.ReadToken()
	for o.PeekKind() != '}' {
		key, _ := o.ReadValue()
		wanted := slices.ContainsFunc(keys, func(wanted string) bool { return isText(key, wanted) })
		value, _ := o.ReadValue()
		if end := o.InputOffset(); wanted {
			found = raw[end-int64(len(value)) : end : end]
		}
	}
	return found
}

// maxItems is the maximum number of items of an opened list. Valid objects have fewer in the lists that conversion
// reads. Any pod can send a list with millions of items, which take forty times their bytes.
const maxItems = 5_000

// items returns the items of a value, or nil if the value is not a list or has too many items.
func items(v any) []any {
	raw, ok := v.(jsontext.Value)
	if !ok || raw.Kind() != '[' {
		opened, _ := v.([]any)
		return opened
	}
	o, list := newOpener(raw), []any{}
	defer o.close()
	_, _ = o.ReadToken()
	for o.PeekKind() != ']' {
		if len(list) == maxItems {
			return nil
		}
		item, _ := o.value()
		list = append(list, item)
	}
	return list
}

// isText reports whether a JSON string has the given value, which must be plain ASCII.
func isText(raw jsontext.Value, want string) bool {
	return string(raw[1:len(raw)-1]) == want || bytes.IndexByte(raw, '\\') >= 0 && text(raw) == want
}

// text returns the value of a string, or "" if the value is not a string.
func text(v any) string {
	raw, ok := v.(jsontext.Value)
	if !ok || raw.Kind() != '"' {
		decoded, _ := v.(string)
		return decoded
	}
	if bytes.IndexByte(raw, '\\') < 0 && utf8.Valid(raw) {
		return string(raw[1 : len(raw)-1])
	}
	var decoded string
	_ = json.Unmarshal(raw, &decoded) // a string of valid JSON can be decoded
	return decoded
}

// path is a path through JSON objects.
type path []string

// lookup returns the value at a path. It opens the objects on the path in place.
func lookup(o tree, p path) any { return parent(o, p, false)[p[len(p)-1]] }

// parent returns the object with the last step of a path, with all objects on the path opened in place. It creates
// missing objects on request. It returns nil if the path contains a value of a different type. Only a damaged
// annotation contains such a path.
func parent(o tree, p path, create bool) tree {
	for _, step := range p[:len(p)-1] {
		inner, opened := o[step].(tree)
		if !opened {
			if inner = fields(o[step]); create && o[step] == nil {
				inner = tree{}
			}
			if inner == nil {
				return nil
			}
			o[step] = inner
		}
		o = inner
	}
	return o
}

// setAt writes a value, and creates the objects on the path.
func setAt(o tree, p path, v any) {
	if at := parent(o, p, true); at != nil {
		at[p[len(p)-1]] = v
	}
}

// deleteAt removes the value at a path.
func deleteAt(o tree, p path) { delete(parent(o, p, false), p[len(p)-1]) }

// put sets a key, or deletes it if there is no value.
func put(o tree, key string, v any) {
	if v == nil {
		delete(o, key)
	} else {
		o[key] = v
	}
}

// clone returns a copy of an object, in which only values that cannot be changed are shared.
func clone(o tree) tree {
	result := maps.Clone(o)
	for key, v := range o {
		if inner, ok := v.(tree); ok {
			result[key] = clone(inner)
		}
	}
	return result
}
