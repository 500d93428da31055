package convert

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// appendJSON appends a value with sorted keys. Values that were not opened do not change.
func appendJSON(dst []byte, v any) []byte {
	switch v := v.(type) {
	case jsontext.Value:
		return append(dst, v...)
	case tree:
		keys := slices.AppendSeq(make([]string, 0, len(v)), maps.Keys(v))
		slices.Sort(keys)
		dst = append(dst, '{')
		for i, key := range keys {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst, _ = jsontext.AppendQuote(dst, key)
			dst = appendJSON(append(dst, ':'), v[key])
		}
		return append(dst, '}')
	case []any:
		dst = append(dst, '[')
		for i, item := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendJSON(dst, item)
		}
		return append(dst, ']')
	case string:
		dst, _ = jsontext.AppendQuote(dst, v)
		return dst
	default:
		return append(dst, marshal(v)...)
	}
}

// digestLength is the number of hex digits in the digest of a value.
const digestLength = 16

func digest(v any) string {
	sum := sha256.Sum256(encode(v))
	return hex.EncodeToString(sum[:])[:digestLength]
}

// encode writes a value in its canonical form: sorted keys, no white space, no HTML escapes. Numbers do not change.
func encode(v any) jsontext.Value {
	written := appendJSON(nil, v)
	canonical, err := jsontext.AppendFormat(nil, written,
		jsontext.ReorderRawObjects(true), jsontext.AllowInvalidUTF8(true))
	if err != nil { // a key occurs more than once
		return encode(decode(written))
	}
	return canonical
}

// equal reports whether two values are the same JSON value. Numbers are equal only if they are written in the same way.
func equal(a, b any) bool {
	if sameText(a, b) {
		return true
	}
	switch k := kind(a); {
	case k != kind(b):
		return false
	case k == '{':
		return maps.EqualFunc(fields(a), fields(b), equal)
	default:
		return bytes.Equal(encode(a), encode(b))
	}
}

// sameText reports whether two values are the same JSON text.
func sameText(a, b any) bool {
	x, ok := a.(jsontext.Value)
	y, both := b.(jsontext.Value)
	return ok && both && bytes.Equal(x, y)
}

// marshal returns JSON without HTML escapes.
func marshal(v any) []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return []byte("null") // JSON values can always be encoded
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// decode reads one JSON value. Numbers remain as they are written.
func decode(data []byte) any {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var v any
	_ = decoder.Decode(&v) // the data is valid JSON
	return v
}

// decodeNumbers decodes one JSON value. Numbers are int64 and float64, as in an unstructured object.
func decodeNumbers(data []byte) any {
	var v any
	if err := utiljson.Unmarshal(data, &v); err != nil {
		return decode(data) // Go's types cannot hold this number.
	}
	return v
}

func hasGoNumber(v any) bool {
	switch v := v.(type) {
	case int64, float64:
		return true
	case tree:
		for _, inner := range v {
			if hasGoNumber(inner) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, hasGoNumber)
	}
	return false
}
