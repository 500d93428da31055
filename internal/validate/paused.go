package validate

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
)

// paused refuses a value of the annotation that neither pauses the stack nor lets it go on. An error keeps its objects as
// they are, so that a misspelt "true" changes nothing.
func paused(obj *object) field.ErrorList {
	switch value, ok := obj.Annotations[names.AnnotationPaused]; {
	case !ok, value == "true", value == "false":
		return nil
	default:
		return field.ErrorList{field.Invalid(field.NewPath("metadata", "annotations").Key(names.AnnotationPaused), value,
			fmt.Sprintf(`%q must be "true" or "false"; remove the annotation to let the stack go on`, value))}
	}
}
