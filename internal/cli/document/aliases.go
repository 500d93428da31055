package document

import (
	"bytes"
	"fmt"

	"go.yaml.in/yaml/v3"
)

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
	w := written{left: MaxBytes}
	if !w.fits(&document, 0) {
		return fmt.Sprintf("is larger than %d MiB after its aliases are expanded; remove aliases", MaxBytes>>20)
	}
	return ""
}

// maxNesting bounds the recursion of an alias inside its own anchor. Without aliases, the decoder limits the nesting.
const maxNesting = 10_000

// written contains the number of bytes that the rest of an expanded document may have.
type written struct{ left int }

// fits reports whether a node fits into the remaining bytes. Each value counts as one byte more than its text, so that
// many aliases for empty values exceed the limit too.
func (w *written) fits(node *yaml.Node, depth int) bool {
	if w.left -= len(node.Value) + 1; w.left < 0 || depth > maxNesting {
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
