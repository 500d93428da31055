package manifest

import (
	"fmt"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

// Foreign is a stack of v1alpha2 that was made of an object of another kind.
type Foreign struct {
	// Object is the stack as values of JSON. It is changed.
	Object map[string]any
	// From is what it was made of, for people: "ogx.io/v1beta1 OGXServer".
	From string
	// Text is the YAML of what it was made of, which gives the comments; empty: none.
	Text []byte
	// Place is where a place of that YAML is in the stack.
	Place func(at []string) []string
	// Comments stand above the places of the stack that they are about.
	Comments []Comment
	// LeftOut are sentences on what the stack does not have, which stand above its spec.
	LeftOut []string
}

// Comment is a remark on a place of a manifest.
type Comment struct {
	At   []string
	Text string
}

// WriteForeign writes a stack that was made of another kind, one YAML document without a separator.
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

// header is the line that says where a manifest comes from.
func header(from any) string {
	return fmt.Sprintf(headerStart+"%s by kubectl llamastack convert.", from)
}
