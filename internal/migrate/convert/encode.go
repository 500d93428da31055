package convert

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/jsontext"
)

// digestLength is the number of hex digits in the digest of a value.
const digestLength = 16

func digest(v value) string {
	sum := sha256.Sum256(encode(v))
	return hex.EncodeToString(sum[:])[:digestLength]
}

// encode writes a value in its canonical form: sorted keys, no white space, no HTML escapes. Numbers do not change.
func encode(v value) []byte {
	e := encoder{out: make([]byte, 0, len(v.raw)), canonical: true}
	e.value(v)
	return e.out
}

type encoder struct {
	out []byte
	// canonical reports whether raw values are rewritten in canonical form.
	canonical bool
}

func (e *encoder) value(v value) {
	switch {
	case v.object != nil:
		e.object(v.object)
	case v.list != nil:
		e.out = append(e.out, '[')
		for i, item := range *v.list {
			e.comma(i)
			e.value(item)
		}
		e.out = append(e.out, ']')
	case !v.exists():
		e.out = append(e.out, "null"...)
	case e.canonical:
		e.respell(again(v.raw), 0)
	default:
		e.out = append(e.out, v.raw...)
	}
}

func (e *encoder) object(o *object) {
	e.out = append(e.out, '{')
	for i, m := range o.sorted() {
		e.comma(i)
		e.out = append(appendText(e.out, m.key), ':')
		e.value(m.value)
	}
	e.out = append(e.out, '}')
}

// appendTo appends an object. Raw values do not change.
func (o *object) appendTo(dst []byte) []byte {
	e := encoder{out: dst}
	e.object(o)
	return e.out
}

func (e *encoder) comma(i int) {
	if i > 0 {
		e.out = append(e.out, ',')
	}
}

// appendText appends a string as marshal writes it, but is faster than marshal in most cases.
func appendText[T string | []byte](dst []byte, text T) []byte {
	begin := len(dst)
	dst = append(append(dst, '"'), text...)
	if jsontext.PlainASCII(dst, begin+1) == len(dst) {
		return append(dst, '"')
	}
	dst = dst[:begin+1]
	written := 0
	for i := range len(text) {
		switch c := text[i]; {
		case c < ' ' || c > '~':
			return append(dst[:begin], marshal(string(text))...)
		case c == '"' || c == '\\':
			dst = append(append(dst, text[written:i]...), '\\')
			written = i
		}
	}
	return append(append(dst, text[written:]...), '"')
}

// respell writes the raw value at i in canonical form, and returns its end. If the keys of all objects are sorted, it
// needs memory only for the result.
func (e *encoder) respell(r *reader, i int) int {
	switch r.at(i) {
	case '{':
		return e.respellObject(r, i)
	case '[':
		e.out = append(e.out, '[')
		next := r.space(i + 1)
		for n := 0; r.at(next) != ']'; n++ {
			e.comma(n)
			next = r.comma(e.respell(r, next))
		}
		e.out = append(e.out, ']')
		return next + 1
	case '"':
		end := r.text(i)
		e.respellText(r.data[i:end])
		return end
	default:
		end := r.scalar(i)
		e.out = append(e.out, r.data[i:end]...)
		return end
	}
}

// respellObject writes the object at start in canonical form, and returns its end. It is fast if the keys are sorted,
// as an API server writes them. It decodes any other object as a whole.
func (e *encoder) respellObject(r *reader, start int) int {
	begin := len(e.out)
	e.out = append(e.out, '{')
	last, i := "", r.space(start+1)
	for n := 0; r.at(i) != '}'; n++ {
		end, inner := r.key(i)
		key := text(r.data[i:end])
		if n > 0 && key <= last {
			end = r.value(start)
			e.out = append(e.out[:begin], marshal(decode(r.data[start:end]))...)
			return end
		}
		last = key
		e.comma(n)
		e.out = append(appendText(e.out, key), ':')
		i = r.comma(e.respell(r, inner))
	}
	e.out = append(e.out, '}')
	return i + 1
}

func (e *encoder) respellText(raw []byte) {
	if isPlain(raw) {
		e.out = append(e.out, raw...)
	} else {
		e.out = append(e.out, marshal(text(raw))...)
	}
}

// marshal returns JSON without HTML escapes. Maps are sorted.
func marshal(value any) []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return []byte("null") // JSON values can always be encoded
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// decode reads one JSON value. Numbers remain as they are written.
func decode(data []byte) any {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil // the data is valid JSON
	}
	return value
}
