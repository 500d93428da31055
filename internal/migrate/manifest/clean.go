package manifest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

// lastApplied is the annotation that contains the manifest that kubectl applied last.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// addedByServer lists the fields of the metadata that an API server sets.
var addedByServer = []string{
	"creationTimestamp", "deletionGracePeriodSeconds", "deletionTimestamp", "generation", "managedFields",
	"resourceVersion", "selfLink", "uid",
}

// Live reports whether an object in JSON contains fields that an API server or kubectl added.
func Live(data []byte) bool {
	var object map[string]any
	if json.Unmarshal(data, &object) != nil {
		return false
	}
	metadata, _ := object["metadata"].(map[string]any)
	given, _ := metadata["annotations"].(map[string]any)
	_, status := object["status"]
	_, applied := given[lastApplied]
	return status || applied || slices.ContainsFunc(addedByServer,
		func(field string) bool { _, ok := metadata[field]; return ok })
}

// clean removes the fields that an API server or kubectl added.
func clean(object map[string]any) {
	delete(object, "status")
	metadata, _ := object["metadata"].(map[string]any)
	maps.DeleteFunc(metadata, func(field string, _ any) bool { return slices.Contains(addedByServer, field) })
	given, _ := metadata["annotations"].(map[string]any)
	delete(given, lastApplied)
	if given != nil && len(given) == 0 {
		delete(metadata, "annotations")
	}
}

func setMissing(object map[string]any, key string, value any) {
	if object[key] == nil { // null has the same effect as a missing field
		object[key] = value
	}
}

// child returns a nested object, and false if there is none.
func child(object map[string]any, steps ...string) (map[string]any, bool) {
	value, _, _ := unstructured.NestedFieldNoCopy(object, steps...) // a value that is not an object has no fields
	inner, ok := value.(map[string]any)
	return inner, ok
}

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
