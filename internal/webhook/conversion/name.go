package conversion

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// maxName bounds the length of a name in a message.
const maxName = 253

// nameOf returns the namespace and name of an object for a message. The object may be truncated, or invalid JSON after
// the metadata.
func nameOf(object []byte) string {
	decoder := json.NewDecoder(bytes.NewReader(object))
	var namespace, name string
	if token, err := decoder.Token(); err != nil || token != json.Delim('{') {
		return "(no object)"
	}
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			break
		}
		if key == "metadata" {
			namespace, name = metadataNames(decoder)
			break
		}
		var skipped json.RawMessage
		if decoder.Decode(&skipped) != nil {
			break
		}
	}
	if name == "" {
		return "(without a name)"
	}
	if namespace != "" {
		name = namespace + "/" + name
	}
	return fmt.Sprintf("%q", name)
}

// metadataNames reads the metadata as far as possible.
func metadataNames(decoder *json.Decoder) (namespace, name string) {
	if token, err := decoder.Token(); err != nil || token != json.Delim('{') {
		return "", ""
	}
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			return namespace, name
		}
		var value json.RawMessage
		if decoder.Decode(&value) != nil {
			return namespace, name
		}
		var text string
		if json.Unmarshal(value, &text) != nil || len(text) > maxName {
			continue
		}
		switch key {
		case "namespace":
			namespace = text
		case "name":
			name = text
		}
	}
	return namespace, name
}
