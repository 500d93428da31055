package conversion

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// maxName bounds the length of a name in a message.
const maxName = 253

// nameOf returns the namespace and name of an object for a message. The object can be truncated, or can be invalid JSON
// after the metadata.
func nameOf(object []byte) string {
	decoder := json.NewDecoder(bytes.NewReader(object))
	var namespace, name string
	isObject := eachField(decoder, func(key json.Token) bool {
		if key == "metadata" {
			namespace, name = metadataNames(decoder)
			return false
		}
		var skipped json.RawMessage
		return decoder.Decode(&skipped) == nil
	})
	switch {
	case !isObject:
		return "(no object)"
	case name == "":
		return "(without a name)"
	case namespace != "":
		name = namespace + "/" + name
	}
	return fmt.Sprintf("%q", name)
}

// metadataNames returns the names in the metadata that can be read.
func metadataNames(decoder *json.Decoder) (namespace, name string) {
	eachField(decoder, func(key json.Token) bool {
		var value json.RawMessage
		if decoder.Decode(&value) != nil {
			return false
		}
		var text string
		if json.Unmarshal(value, &text) != nil || len(text) > maxName {
			return true
		}
		switch key {
		case "namespace":
			namespace = text
		case "name":
			name = text
		}
		return true
	})
	return namespace, name
}

// eachField calls the function `read` for each field of an object, with `decoder` positioned at the value. It stops if
// `read` returns false or the JSON is invalid. eachField returns false if `decoder` is not at the beginning of an
// object when the call begins.
func eachField(decoder *json.Decoder, read func(key json.Token) bool) bool {
	if token, err := decoder.Token(); err != nil || token != json.Delim('{') {
		return false
	}
	for decoder.More() {
		if key, err := decoder.Token(); err != nil || !read(key) {
			break
		}
	}
	return true
}
