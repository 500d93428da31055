package stub

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// maxReference is the maximum size, in bytes, of the text in a kept owner reference. The API server bounds neither its
// name nor its UID, but no object has a longer name.
const maxReference = 1 << 10

// Identity copies the metadata that identifies an object and its controller, and the labels by which the operator
// selects objects. The API server bounds the length of each of these parts, or Identity does.
func Identity(to, from metav1.Object) {
	to.SetName(from.GetName())
	to.SetNamespace(from.GetNamespace())
	to.SetUID(from.GetUID())
	to.SetResourceVersion(from.GetResourceVersion())
	to.SetGeneration(from.GetGeneration())
	to.SetCreationTimestamp(from.GetCreationTimestamp())
	to.SetDeletionTimestamp(from.GetDeletionTimestamp())
	to.SetLabels(Only(from.GetLabels(), validation.LabelValueMaxLength,
		names.LabelApp, names.LabelManagedBy, names.LabelInstance, names.LabelConfig))
	if controller := metav1.GetControllerOf(from); controller != nil && referenceBytes(controller) <= maxReference {
		to.SetOwnerReferences([]metav1.OwnerReference{*controller})
	}
}

func referenceBytes(r *metav1.OwnerReference) int {
	return len(r.APIVersion) + len(r.Kind) + len(r.Name) + len(r.UID)
}

// Only returns the entries with the given keys whose values are at most `most` bytes long. It returns nil if there are
// none.
func Only(entries map[string]string, most int, keys ...string) map[string]string {
	var kept map[string]string
	for _, key := range keys {
		value, ok := entries[key]
		if !ok || len(value) > most {
			continue
		}
		if kept == nil {
			kept = make(map[string]string, len(keys))
		}
		kept[key] = value
	}
	return kept
}

// isChild reports whether an object has the name of a child of the stack that controls it. An object without a
// controller, such as a retained claim or an object that was restored from a backup, belongs to the stack in its label.
func isChild(object metav1.Object) bool {
	stack := object.GetLabels()[names.LabelInstance]
	if controller := metav1.GetControllerOfNoCopy(object); controller != nil {
		if controller.Kind != v1alpha2.Kind || !strings.HasPrefix(controller.APIVersion, v1alpha2.GroupVersion.Group+"/") {
			return false
		}
		stack = controller.Name
	}
	return names.IsChild(stack, object.GetName())
}
