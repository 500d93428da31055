package apply

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Owner is the object whose children the Applier applies.
type Owner struct {
	UID       types.UID
	Namespace string
	Name      string
	// Labels are the labels of every child. The Applier adopts an object that has these labels and has no controller, such
	// as an object that was retained, orphaned, or restored from a backup.
	Labels map[string]string
	// Predecessors lists the field managers, each with its operation, that wrote children of this owner before this
	// program did. The Applier takes over their fields once.
	Predecessors []metav1.ManagedFieldsEntry
	// PredecessorsUntil is the time at which a predecessor was last active. If this time is after the last apply of an
	// object, the user went back to the predecessor and then to this program again, and the Applier takes over the
	// predecessor's fields once more. Zero means that the time is unknown.
	PredecessorsUntil metav1.Time
	// Mark is the mark that the Applier writes when it takes over fields of predecessors. The zero value means that the
	// Applier writes no mark.
	Mark Mark
}

// Mark is an annotation that records that predecessors were the last to write an object. The takeover removes this
// information from the managed fields.
type Mark struct {
	// Kind is the kind of the objects that the Applier marks.
	Kind string
	// Annotation is the annotation in which this program records its apply. A predecessor that replaces the object removes
	// the annotation.
	Annotation string
	// Value is the value of the annotation in a marked object.
	Value string
}

// Key returns the owner's namespaced name.
func (o Owner) Key() types.NamespacedName {
	return types.NamespacedName{Namespace: o.Namespace, Name: o.Name}
}

// owns reports whether the object is a child of this owner.
func (o Owner) owns(object metav1.Object) bool {
	controller := metav1.GetControllerOfNoCopy(object)
	return controller != nil && controller.UID == o.UID
}

// Adopts reports whether the object becomes a child of this owner, because it has the owner's labels and no controller.
func (o Owner) Adopts(object metav1.Object) bool {
	if metav1.GetControllerOfNoCopy(object) != nil || len(o.Labels) == 0 {
		return false
	}
	labels := object.GetLabels()
	for key, value := range o.Labels {
		if labels[key] != value {
			return false
		}
	}
	return true
}

// OwnershipConflict is the error for an object that has a child's name and does not belong to the owner, or that cannot
// get the child's data.
type OwnershipConflict struct {
	Kind      string
	Namespace string
	Name      string
	// Controller is the kind and the name of the object's controller. It is empty if there is no controller.
	Controller string
	// Differs reports whether the object belongs to the owner, but has other data than the immutable child.
	Differs bool
}

// Error names the object and its controller, if there is one.
func (e *OwnershipConflict) Error() string {
	whose := "has neither a controller nor the labels of the stack"
	switch {
	case e.Differs:
		whose = "has different data, which the operator cannot change"
	case e.Controller != "":
		whose = "is controlled by " + e.Controller
	}
	return fmt.Sprintf("%s %q in namespace %q exists and %s; delete this %s, or create the stack with another name",
		e.Kind, e.Name, e.Namespace, whose, e.Kind)
}

func newConflict(gvk schema.GroupVersionKind, live *unstructured.Unstructured) *OwnershipConflict {
	conflict := &OwnershipConflict{Kind: gvk.Kind, Namespace: live.GetNamespace(), Name: live.GetName()}
	if controller := metav1.GetControllerOf(live); controller != nil {
		conflict.Controller = fmt.Sprintf("%s %q", controller.Kind, controller.Name)
	}
	return conflict
}
