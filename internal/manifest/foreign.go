package manifest

import (
	"fmt"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

// Foreign is a v1alpha2 stack that was made from an object of another kind.
type Foreign struct {
	// Object is the stack as JSON values. WriteForeign changes it.
	Object map[string]any
	// From is the kind of the source in readable form: "ogx.io/v1beta1 OGXServer".
	From string
	// Text is the YAML of the source, which provides the comments. Empty means no comments.
	Text []byte
	// Place returns the path in the stack for a path in that YAML.
	Place func(at []string) []string
	// Comments are written above the fields of the stack that they are about.
	Comments []Comment
	// LeftOut are sentences about fields that the stack does not have. They are written above its spec.
	LeftOut []string
}

// Comment is a remark on a place of a manifest.
type Comment struct {
	At   []string
	Text string
}

// WriteForeign returns a stack that was made from another kind, as one YAML document without a separator.
func WriteForeign(f Foreign) ([]byte, error) {
	clean(f.Object)
	said := remarks{header: header(f.From)}
	for _, comment := range f.Comments {
		said.say(comment.Text, comment.At...)
	}
	said.ofDropped(f.LeftOut)
	w := writer{written: readForeign(f.Text, f.Place), remarks: said}
	return w.page(f.Object, typeOf(v1alpha2.GroupVersion.String()))
}

// header returns the line with the source of a manifest.
func header(from any) string {
	return fmt.Sprintf(headerStart+"%s by kubectl llamastack convert.", from)
}
