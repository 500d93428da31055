package convert

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
)

// digestLength is how many hex digits tell two values of one field apart.
const digestLength = 16

func digest(value any) string {
	sum := sha256.Sum256(encode(value))
	return hex.EncodeToString(sum[:])[:digestLength]
}

// encode writes a value in its one spelling: sorted keys, no space, no HTML escapes. Numbers stay as they are.
func encode(value any) []byte {
	e := encoder{canonical: true}
	e.value(value)
	return e.out
}

// appendValue writes a value; what is raw stays as it is.
func appendValue(dst []byte, value any) []byte {
	e := encoder{out: dst}
	e.value(value)
	return e.out
}

type encoder struct {
	out []byte
	// canonical says that raw values are spelt anew.
	canonical bool
}

func (e *encoder) value(value any) {
	switch value := value.(type) {
	case json.RawMessage:
		if e.canonical {
			e.respell(value, 0)
		} else {
			e.out = append(e.out, value...)
		}
	case map[string]any:
		e.object(value)
	case []any:
		e.out = append(e.out, '[')
		for i := range value {
			e.comma(i)
			e.value(value[i])
		}
		e.out = append(e.out, ']')
	case string:
		e.text(value)
	default:
		e.out = append(e.out, marshal(value)...)
	}
}

func (e *encoder) object(fields map[string]any) {
	e.out = append(e.out, '{')
	for i, key := range sortedKeys(fields, nil) {
		e.comma(i)
		e.text(key)
		e.out = append(e.out, ':')
		e.value(fields[key])
	}
	e.out = append(e.out, '}')
}

// sortedKeys are the keys of two objects, each once.
func sortedKeys(fields, others map[string]any) []string {
	keys := make([]string, 0, len(fields)+len(others))
	for key := range fields {
		keys = append(keys, key)
	}
	for key := range others {
		if _, both := fields[key]; !both {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

func (e *encoder) comma(i int) {
	if i > 0 {
		e.out = append(e.out, ',')
	}
}

func (e *encoder) text(value string) {
	for i := range len(value) {
		if c := value[i]; c < ' ' || c > '~' || c == '\\' || c == '"' {
			e.out = append(e.out, marshal(value)...)
			return
		}
	}
	e.out = append(e.out, '"')
	e.out = append(e.out, value...)
	e.out = append(e.out, '"')
}

// respell writes the raw value at i in its one spelling, and returns where it ends. It needs the memory of the result.
func (e *encoder) respell(raw []byte, i int) int {
	switch i = skipSpace(raw, i); raw[i] {
	case '{':
		return e.respellObject(raw, i)
	case '[':
		e.out = append(e.out, '[')
		next := skipSpace(raw, i+1)
		for n := 0; raw[next] != ']'; n++ {
			e.comma(n)
			next = skipComma(raw, e.respell(raw, next))
		}
		e.out = append(e.out, ']')
		return next + 1
	case '"':
		end := skipText(raw, i)
		e.respellText(raw[i:end])
		return end
	default:
		end := skipScalar(raw, i)
		e.out = append(e.out, raw[i:end]...)
		return end
	}
}

// respellObject relies on sorted keys, as an API server writes them. An object with others is read as a whole.
func (e *encoder) respellObject(raw []byte, start int) int {
	begin := len(e.out)
	e.out = append(e.out, '{')
	last, i := "", skipSpace(raw, start+1)
	for n := 0; raw[i] != '}'; n++ {
		end := skipText(raw, i)
		key := text(raw[i:end])
		if n > 0 && key <= last {
			end = skipValue(raw, start)
			e.out = append(e.out[:begin], marshal(decode(raw[start:end]))...)
			return end
		}
		last = key
		e.comma(n)
		e.text(key)
		e.out = append(e.out, ':')
		i = skipComma(raw, e.respell(raw, skipSpace(raw, end)+1))
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

// marshal writes JSON without HTML escapes; maps are sorted.
func marshal(value any) []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return []byte("null") // values of JSON can be encoded
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// decode reads one JSON value; numbers stay as they were written.
func decode(data []byte) any {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil // what is decoded here is valid
	}
	return value
}
