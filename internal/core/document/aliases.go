package document

import (
	"bytes"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// maxValues is the maximum number of values in a document. The decoders take up to two hundred bytes for a value, whose
// text can be as short as two bytes. A thousand ordinary stacks in one list have fewer values.
const maxValues = 400_000

// checkValues returns the problem with a document that has too many values, or "". It counts the characters that begin
// or separate values, because the decoders would need much memory to count the values.
func checkValues(data []byte, isJSON bool) string {
	separators := "\n,:[{-?"
	if isJSON {
		separators = ",[{"
	}
	count := 0
	for i := range len(separators) {
		count += bytes.Count(data, []byte{separators[i]})
	}
	if count <= maxValues {
		return ""
	}
	return fmt.Sprintf("has too many values; the limit for a document is about %d; write its objects to several files "+
		"or documents", maxValues)
}

// checkAliases returns the problem with a document whose aliases expand to more than MaxBytes, or "". The decoder
// expands all aliases, and a few lines can expand to gigabytes. For invalid YAML, checkAliases returns "", because the
// decoder reports the problem.
func checkAliases(data []byte) string {
	if !bytes.ContainsRune(data, '&') || !bytes.ContainsRune(data, '*') {
		return ""
	}
	var document yaml.Node
	if err := yaml.Unmarshal(data, &document); err != nil {
		return ""
	}
	w := written{left: MaxBytes, values: maxValues}
	if !w.fits(&document, 0) {
		return fmt.Sprintf("is larger than %d MiB or %d values after its aliases are expanded; remove aliases", MaxBytes>>20,
			maxValues)
	}
	return ""
}

// maxNesting bounds the recursion of an alias inside its own anchor. Without aliases, the decoder limits the nesting.
const maxNesting = 10_000

// written contains the number of bytes, and the number of values, that the rest of an expanded document may have.
type written struct{ left, values int }

// fits reports whether a node fits into the remaining bytes. Each value counts as one byte more than its text, so that
// many aliases for empty values exceed the limit too.
func (w *written) fits(node *yaml.Node, depth int) bool {
	w.left -= len(node.Value) + 1
	w.values--
	if w.left < 0 || w.values < 0 || depth > maxNesting {
		return false
	}
	if node.Kind == yaml.AliasNode {
		return w.fits(node.Alias, depth+1)
	}
	for _, item := range node.Content {
		if !w.fits(item, depth+1) {
			return false
		}
	}
	return true
}
