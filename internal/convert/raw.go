package convert

import (
	"bytes"
	"encoding/json"
)

// The functions below read JSON that json.Valid has accepted.

// opened is what a raw value holds: an object, text, a number, a boolean or nil. A list, and what is not raw, stays.
func opened(value any) any {
	raw, ok := value.(json.RawMessage)
	if !ok {
		return value
	}
	switch raw[0] {
	case '{':
		return fieldsOf(raw)
	case '[':
		return value
	case '"':
		return text(raw)
	case 't':
		return true
	case 'f':
		return false
	case 'n':
		return nil
	default:
		return json.Number(raw)
	}
}

// openObject is a raw value as an object, if it is one.
func openObject(value any) (map[string]any, bool) {
	if raw, ok := value.(json.RawMessage); ok && raw[0] == '{' {
		return fieldsOf(raw), true
	}
	return nil, false
}

// openList is a list, opened if it is raw.
func openList(value any) ([]any, bool) {
	raw, isRaw := value.(json.RawMessage)
	if !isRaw || raw[0] != '[' {
		list, ok := value.([]any)
		return list, ok
	}
	items := []any{}
	for i := skipSpace(raw, 1); raw[i] != ']'; {
		end := skipValue(raw, i)
		items = append(items, raw[i:end:end])
		i = skipComma(raw, end)
	}
	return items, true
}

// fieldsOf are the fields of a raw object, raw. Of a key that stands twice the last one counts, as everywhere in Go.
func fieldsOf(raw json.RawMessage) map[string]any {
	fields := make(map[string]any)
	for i := skipSpace(raw, 1); raw[i] != '}'; {
		end := skipText(raw, i)
		key := text(raw[i:end])
		start := skipSpace(raw, skipSpace(raw, end)+1)
		end = skipValue(raw, start)
		fields[key] = raw[start:end:end]
		i = skipComma(raw, end)
	}
	return fields
}

// text is what a raw text says.
func text(raw []byte) string {
	if isPlain(raw) {
		return string(raw[1 : len(raw)-1])
	}
	var result string
	if err := json.Unmarshal(raw, &result); err != nil {
		return "" // a text of valid JSON can be read
	}
	return result
}

// isPlain reports whether a raw text is spelt as everybody would spell it.
func isPlain(raw []byte) bool {
	for _, c := range raw {
		if c < ' ' || c > '~' || c == '\\' {
			return false
		}
	}
	return true
}

func skipSpace(data []byte, i int) int {
	for data[i] == ' ' || data[i] == '\n' || data[i] == '\t' || data[i] == '\r' {
		i++
	}
	return i
}

// skipComma leads from behind one item to the next one, or to the end of the list or object.
func skipComma(data []byte, i int) int {
	i = skipSpace(data, i)
	if data[i] == ',' {
		return skipSpace(data, i+1)
	}
	return i
}

// skipText leads behind a text. Its end is the first quote with an even number of
// backslashes before it.
func skipText(data []byte, i int) int {
	begin := i + 1
	for i = begin; ; i++ {
		i += bytes.IndexByte(data[i:], '"')
		escapes := i
		for escapes > begin && data[escapes-1] == '\\' {
			escapes--
		}
		if (i-escapes)%2 == 0 {
			return i + 1
		}
	}
}

// skipValue leads behind a value. It takes no more stack for a deep value than for a flat one.
func skipValue(data []byte, i int) int {
	depth := 0
	for i < len(data) {
		switch data[i] {
		case '"':
			i = skipText(data, i)
		case '{', '[':
			depth++
			i++
			continue
		case '}', ']':
			depth--
			i++
		case ' ', '\n', '\t', '\r', ',', ':':
			i++
			continue
		default:
			i = skipScalar(data, i)
		}
		if depth == 0 {
			return i
		}
	}
	return i
}

// skipScalar leads behind a number, a boolean or null.
func skipScalar(data []byte, i int) int {
	for i < len(data) {
		switch data[i] {
		case ',', '}', ']', ' ', '\n', '\t', '\r':
			return i
		}
		i++
	}
	return i
}

// depthOf is how deep the objects and lists of a value are nested.
func depthOf(data []byte) int {
	depth, deepest := 0, 0
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '"':
			i = skipText(data, i) - 1
		case '{', '[':
			depth++
			deepest = max(deepest, depth)
		case '}', ']':
			depth--
		}
	}
	return deepest
}
