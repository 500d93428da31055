package validate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/suggest"
)

// unknownAnnotations warns about annotations with the operator's prefix that the operator does not read.
func unknownAnnotations(c *checks) []string {
	var warnings []string
	known := append(names.StackAnnotations(), names.AnnotationConversionData)
	for _, key := range slices.Sorted(maps.Keys(c.Annotations)) {
		if !strings.HasPrefix(key, names.AnnotationPrefix) || slices.Contains(known, key) {
			continue
		}
		name, path := strings.TrimPrefix(key, names.AnnotationPrefix), field.NewPath("metadata", "annotations").Key(key)
		remedy := "remove it; known annotations: " + strings.Join(known, ", ")
		if near := suggest.Nearest(name, shortened(known)); near != "" {
			remedy = "did you mean " + names.AnnotationPrefix + near + "?"
		}
		warnings = append(warnings, fmt.Sprintf("%s: the operator has no annotation %q, so it has no effect; %s", path, name, remedy))
	}
	return warnings
}

func shortened(keys []string) []string {
	short := make([]string, len(keys))
	for i, key := range keys {
		short[i] = strings.TrimPrefix(key, names.AnnotationPrefix)
	}
	return short
}

// paused rejects an annotation value that neither pauses nor resumes the stack. The operator does not change the
// objects of a stack with an error, so a misspelled "true" does not resume the stack.
func paused(c *checks) {
	if value, ok := c.Annotations[names.AnnotationPaused]; ok && value != "true" && value != "false" {
		c.InvalidText(field.NewPath("metadata", "annotations").Key(names.AnnotationPaused), value,
			`must be "true" or "false"; set "true" to pause the stack, or remove the annotation to resume the stack`)
	}
}
