package change

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
)

// Action is the effect of an edit on an object.
type Action string

const (
	// Added means that the operator creates the object.
	Added Action = "added"
	// Changed means that fields of the object change, or that an object with a different name replaces it.
	Changed Action = "changed"
	// Removed means that the operator deletes the object.
	Removed Action = "removed"
	// Kept means that the stack no longer uses the object, and that the operator keeps it because it contains data.
	Kept Action = "kept"
)

// Object describes the change to one object of the stack.
type Object struct {
	Action Action `json:"action"`
	Kind   string `json:"kind"`
	Name   string `json:"name"`
	// Was is the name of the object that this object replaces. Empty means that the name does not change.
	Was string `json:"was,omitempty"`
	// Fields lists the fields that change. It is empty for an added, removed or kept object.
	Fields []Field `json:"fields,omitempty"`

	before, after map[string]any
}

// Field describes the change to one field of an object.
type Field struct {
	// Path is the path of the field. Names identify the entries of a list: spec.template.spec.containers[server].image.
	Path string `json:"path"`
	// From and To are the values of the field. Empty means that the field does not exist on that side.
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
}

// child is an object on one side of the comparison.
type child struct {
	kind, name, role string
	retained         bool
	content          map[string]any
}

// objects compares the objects of both sides, in the order in which the operator applies them. The objects that are no
// longer part of the edited stack come last.
func objects(before, after *plan.Plan) ([]Object, error) {
	was, err := children(before)
	if err != nil {
		return nil, err
	}
	is, err := children(after)
	if err != nil {
		return nil, err
	}
	var found []Object
	for _, now := range is {
		i := slices.IndexFunc(was, now.replaces)
		if i < 0 {
			found = append(found, Object{Action: Added, Kind: now.kind, Name: now.name, after: now.content})
			continue
		}
		if object := now.changed(was[i]); len(object.Fields) > 0 || object.Was != "" {
			found = append(found, object)
		}
		was = slices.Delete(was, i, i+1)
	}
	for _, gone := range was {
		found = append(found, gone.unused())
	}
	return found, nil
}

// unused returns the change to an object that is no longer part of the edited stack.
func (c child) unused() Object {
	action := Removed
	if c.retained {
		action = Kept
	}
	return Object{Action: action, Kind: c.kind, Name: c.name, before: c.content}
}

// changed returns the difference between an object and the object that it replaces.
func (c child) changed(was child) Object {
	object := Object{Action: Changed, Kind: c.kind, Name: c.name, before: was.content, after: c.content}
	if was.name != c.name {
		object.Was = was.name
	}
	object.Fields = compare(object.before, object.after)
	return object
}

// replaces reports whether an object replaces another object. Their names may differ, because the name of a ConfigMap
// with a configuration contains the digest of its content.
func (c child) replaces(other child) bool {
	return c.kind == other.kind && (c.name == other.name || c.role != "" && c.role == other.role)
}

// children returns the objects of a plan without the operator's records, and without the values of Secrets.
func children(of *plan.Plan) ([]child, error) {
	if of == nil {
		return nil, nil
	}
	retained := map[string]bool{}
	for _, kind := range render.ChildKinds() {
		retained[kind.Kind] = kind.Retained
	}
	var found []child
	for _, object := range of.AllObjects() {
		content, err := render.Unstructured(object)
		if err != nil {
			return nil, fmt.Errorf("compare %s %q: %w", object.GVK.Kind, object.Name, err)
		}
		found = append(found, child{
			kind: object.GVK.Kind, name: object.Name, role: content.GetLabels()[names.LabelConfig],
			retained: retained[object.GVK.Kind], content: withoutRecords(content.Object),
		})
	}
	return found, nil
}

// withoutRecords removes the annotations with the operator's records from an object. It changes the object.
func withoutRecords(object map[string]any) map[string]any {
	drop := func(metadata any) {
		fields, _ := metadata.(map[string]any)
		annotations, _ := fields["annotations"].(map[string]any)
		for _, name := range []string{names.AnnotationRendered, names.AnnotationInputs, names.AnnotationGeneration} {
			delete(annotations, name)
		}
		if annotations != nil && len(annotations) == 0 {
			delete(fields, "annotations")
		}
	}
	drop(object["metadata"])
	if spec, ok := object["spec"].(map[string]any); ok {
		if template, ok := spec["template"].(map[string]any); ok {
			drop(template["metadata"])
		}
	}
	return object
}

// title returns the kind and the name of an object.
func (o *Object) title() string { return o.Kind + "/" + cmp.Or(o.Name, o.Was) }
