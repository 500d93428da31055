package validate

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// paused rejects an annotation value that neither pauses nor resumes the stack. The operator does not change the
// objects of a stack with an error, so a misspelled "true" does not resume the stack.
func paused(c *checks) {
	if value, ok := c.Annotations[names.AnnotationPaused]; ok && value != "true" && value != "false" {
		c.InvalidText(field.NewPath("metadata", "annotations").Key(names.AnnotationPaused), value,
			`must be "true" or "false"; set "true" to pause the stack, or remove the annotation to resume the stack`)
	}
}
