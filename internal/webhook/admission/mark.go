package admission

import (
	"cmp"
	"fmt"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
)

// markRemoved warns about an update that removes the compatibility annotation of a stack of v1alpha1.
func markRemoved(before, object *stack) []string {
	if !names.Compat(before.Annotations) || names.Compat(object.Annotations) {
		return nil
	}
	path := "metadata.annotations[" + names.AnnotationCompat + "]"
	if workload := object.Spec.Workload; workload != nil && workload.Storage != nil {
		return []string{fmt.Sprintf("%s: without it the server looks for its data in other directories of the volume, which is mounted at %q, "+
			"and no longer finds what it stored; set it to %q to keep the data where it is",
			path, cmp.Or(workload.Storage.MountPath, v1alpha2.DefaultMountPath), names.CompatV1Alpha1)}
	}
	return []string{fmt.Sprintf("%s: without it the stack follows the rules of v1alpha2 for its Service, its pods and their environment; "+
		"set it to %q to keep those of v1alpha1, see docs/v1alpha1.md", path, names.CompatV1Alpha1)}
}
