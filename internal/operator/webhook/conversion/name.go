package conversion

import (
	"bytes"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// maxName bounds the length of a name in a message.
const maxName = 253

// nameOf returns the namespace and name of an object for a message. The object can be truncated, or can be invalid JSON
// after the metadata.
func nameOf(object []byte) string {
	in := jsontext.NewDecoder(bytes.NewBuffer(object), lenient...)
	if in.PeekKind() != '{' {
		return "(no object)"
	}
	found := make(map[jsontext.Pointer]string)
	for token, err := in.ReadToken(); err == nil; token, err = in.ReadToken() {
		const inMetadata = 2
		if in.StackDepth() != inMetadata || token.Kind() != '"' {
			continue
		}
		text := token.String()
		if _, read := in.StackIndex(inMetadata); read%2 == 0 && len(text) <= maxName { // the text is a value and not a key
			if place := in.StackPointer(); place == "/metadata/name" || place == "/metadata/namespace" {
				found[place] = text
			}
		}
	}
	name := found["/metadata/name"]
	if name == "" {
		return "(without a name)"
	}
	if namespace := found["/metadata/namespace"]; namespace != "" {
		name = namespace + "/" + name
	}
	return fmt.Sprintf("%q", name)
}
