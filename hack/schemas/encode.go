package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// lineWidth is the maximum length of a line that contains a complete object or list.
const lineWidth = 120

// encode returns the JSON of a schema with sorted keys. It writes a value on one line if the value fits.
func encode(schema object) []byte {
	var out bytes.Buffer
	writeValue(&out, schema, 0, 0)
	out.WriteByte('\n')
	return out.Bytes()
}

func writeValue(out *bytes.Buffer, value any, depth, before int) {
	text := compact(value)
	if depth+before+len(text) <= lineWidth {
		out.WriteString(text)
		return
	}
	newline := func(depth int) { out.WriteString("\n" + strings.Repeat(" ", depth)) }
	switch v := value.(type) {
	case object:
		for i, key := range slices.Sorted(maps.Keys(v)) {
			out.WriteString(map[bool]string{true: "{", false: ","}[i == 0])
			newline(depth + 1)
			name := compact(key) + ":"
			out.WriteString(name)
			writeValue(out, v[key], depth+1, len(name))
		}
		newline(depth)
		out.WriteByte('}')
	case []any:
		for i, item := range v {
			out.WriteString(map[bool]string{true: "[", false: ","}[i == 0])
			newline(depth + 1)
			writeValue(out, item, depth+1, 0)
		}
		newline(depth)
		out.WriteByte(']')
	default:
		out.WriteString(text)
	}
}

// compact returns a value as JSON on one line.
func compact(value any) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic(err) // schemas contain only JSON values
	}
	return strings.TrimSuffix(out.String(), "\n")
}
