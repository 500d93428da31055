package image

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// object is a JSON object. It contains the original encoding of each value. The method encode sorts the keys.
type object map[string]json.RawMessage

var errNoObject = errors.New("is not a JSON object; build the image again")

func decodeObject(content []byte) (object, error) {
	var found object
	if err := json.Unmarshal(content, &found); err != nil {
		return nil, errNoObject
	}
	if found == nil {
		found = object{}
	}
	return found, nil
}

// encode returns the object as JSON.
func (o object) encode() []byte { return encode(o) }

func encode(value any) []byte {
	var page bytes.Buffer
	encoder := json.NewEncoder(&page)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic(err) // never happens for strings, numbers, and decoded JSON
	}
	return bytes.TrimSuffix(page.Bytes(), []byte("\n"))
}

func (o object) set(key string, value any) { o[key] = encode(value) }

// text returns the value of a key as a string, or "" if the key is missing or its value is not a string.
func (o object) text(key string) string {
	var text string
	if json.Unmarshal(o[key], &text) != nil {
		return ""
	}
	return text
}

// list returns the values of a key that holds a list, or nil if the key is missing.
func (o object) list(key string) ([]json.RawMessage, error) {
	if o[key] == nil {
		return nil, nil
	}
	var found []json.RawMessage
	if err := json.Unmarshal(o[key], &found); err != nil {
		return nil, fmt.Errorf("%s is not a list; build the image again", key)
	}
	return found, nil
}

// object returns the value of a key that holds an object, or an empty object if the key is missing.
func (o object) object(key string) (object, error) {
	if o[key] == nil {
		return object{}, nil
	}
	found, err := decodeObject(o[key])
	if err != nil {
		return nil, fmt.Errorf("%s %w", key, err)
	}
	return found, nil
}

// point sets the digest and the size of a descriptor, and removes the embedded content.
func (o object) point(digest v1.Hash, size int) {
	o.set("digest", digest.String())
	o.set("size", size)
	delete(o, "data")
}
