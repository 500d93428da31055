package nesting

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// Cut returns a JSON text that is not nested deeper than a number of levels, and the depth of the original text. It
// returns a text that is not deeper unchanged, without a copy. In a text that is deeper, the objects and lists at the
// last level are empty. The result for a text that is not JSON, or has over 10,000 levels, is not JSON.
func Cut(text []byte, most int) (cut []byte, deepest int) {
	in := jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	kept := 0 // the index after the part of the text that cut contains
	for token, err := in.ReadToken(); err == nil; token, err = in.ReadToken() {
		depth, end := in.StackDepth(), int(in.InputOffset())
		deepest = max(deepest, depth)
		switch kind := token.Kind(); {
		case (kind == '{' || kind == '[') && depth == most:
			cut = append(cut, text[kept:end]...)
		case (kind == '}' || kind == ']') && depth == most-1:
			kept = end - 1
		}
	}
	if deepest <= most {
		return text, deepest
	}
	return append(cut, text[kept:]...), deepest
}
