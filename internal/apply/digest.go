package apply

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// digestOf tells one wanted object from another. It is compared within one run of the
// program only, so the object need not be encoded as anybody else reads it.
func digestOf(wanted *unstructured.Unstructured) (digest [sha256.Size]byte) {
	hash := sha256.New()
	to := bufio.NewWriterSize(hash, 1<<10) // the strings are short, a block of the hash is not
	writeValue(to, wanted.Object)
	_ = to.Flush() // a hash takes everything
	hash.Sum(digest[:0])
	return digest
}

// writeValue writes a value so that no other value is written alike: what kind of value
// it is, how long it is, and what it is.
func writeValue(to *bufio.Writer, value any) {
	switch value := value.(type) {
	case map[string]any:
		writeSize(to, 'm', len(value))
		for _, key := range slices.Sorted(maps.Keys(value)) {
			writeText(to, key)
			writeValue(to, value[key])
		}
	case []any:
		writeSize(to, 'l', len(value))
		for _, item := range value {
			writeValue(to, item)
		}
	case string:
		writeText(to, value)
	default: // a number, a truth value or nothing
		_, _ = fmt.Fprintf(to, "v%T %v;", value, value)
	}
}

func writeText(to *bufio.Writer, text string) {
	writeSize(to, 's', len(text))
	_, _ = to.WriteString(text)
}

func writeSize(to *bufio.Writer, kind byte, size int) {
	_ = to.WriteByte(kind)
	_, _ = to.Write(strconv.AppendInt(to.AvailableBuffer(), int64(size), 10))
	_ = to.WriteByte(':')
}
