package admission

import (
	"cmp"
	"fmt"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/profile"
)

// markRemoved warns about an update that removes the compatibility annotation of a v1alpha1 stack.
func markRemoved(before, object *stack) []string {
	if !profile.Of(before.Annotations).V1alpha1 || profile.Of(object.Annotations).V1alpha1 {
		return nil
	}
	path := "metadata.annotations[" + names.AnnotationCompat + "]"
	if workload := object.Spec.Workload; workload != nil && workload.Storage != nil {
		return []string{fmt.Sprintf("%s: without this annotation, the server uses different directories on the volume at %q, "+
			"and no longer uses its earlier data; to keep using that data, set the annotation to %q",
			path, cmp.Or(workload.Storage.MountPath, v1alpha2.DefaultMountPath), names.CompatV1Alpha1)}
	}
	return []string{fmt.Sprintf("%s: without this annotation, the stack follows the v1alpha2 rules for its Service, "+
		"its pods and their environment; "+
		"to keep the v1alpha1 rules, set the annotation to %q; see docs/reference/v1alpha1-fields.md", path, names.CompatV1Alpha1)}
}
