package manifest

import (
	"fmt"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

// Foreign is a v1alpha2 stack that was converted from an object of another kind.
type Foreign struct {
	// Object is the stack as JSON values. WriteForeign changes it.
	Object map[string]any
	// From is the version and the kind of the source, for example "ogx.io/v1beta1 OGXServer".
	From string
	// Text is the YAML text of the source, which provides the comments. It may be empty.
	Text []byte
	// Place returns the path in the stack for a path in the source.
	Place func(at []string) []string
	// Comments are comments above fields of the stack.
	Comments []Comment
	// LeftOut contains a sentence for each field of the source that a stack does not have. The sentences are comments
	// above the spec.
	LeftOut []string
}

// Comment is a comment on a field of a manifest.
type Comment struct {
	// At is the path of the field, for example spec, providers, inference, 0, apiKey.
	At   []string
	Text string
}

// WriteForeign returns the manifest of a converted stack, as one YAML document without a separator.
func WriteForeign(f Foreign) ([]byte, error) {
	clean(f.Object)
	notes := remarks{header: header(f.From)}
	for _, comment := range f.Comments {
		notes.add(comment.Text, comment.At...)
	}
	notes.ofDropped(f.LeftOut)
	w := writer{written: readForeign(f.Text, f.Place), remarks: notes}
	return w.page(f.Object, typeOf(v1alpha2.GroupVersion.String()))
}

// header returns the line that names the source of a manifest.
func header(from any) string {
	return fmt.Sprintf(headerStart+"%s by kubectl llamastack convert.", from)
}
