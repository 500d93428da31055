package change

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/render"
)

// Action is what happens to an object.
type Action string

const (
	// Added means that the object is created.
	Added Action = "added"
	// Changed means that the object gets other fields, or that an object with another name takes its place.
	Changed Action = "changed"
	// Removed means that the object is deleted.
	Removed Action = "removed"
	// Kept means that the stack does not use the object any more, and that it stays because it holds data.
	Kept Action = "kept"
)

// Object is an object of the stack that changes.
type Object struct {
	Action Action `json:"action"`
	Kind   string `json:"kind"`
	Name   string `json:"name"`
	// Was is the name of the object that it takes the place of. Empty means the same name.
	Was string `json:"was,omitempty"`
	// Fields are the fields that change. An added or removed object has none.
	Fields []Field `json:"fields,omitempty"`

	before, after map[string]any
}

// Field is a field of an object that changes.
type Field struct {
	// Path is its place. Names identify the entries of a list: spec.template.spec.containers[server].image.
	Path string `json:"path"`
	// From and To are its values. Empty means that the field does not exist on that side.
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
}

// child is an object of one side.
type child struct {
	kind, name, role string
	retained         bool
	content          map[string]any
}

// objects compares the objects of both sides, in the order in which they are applied.
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
		object := Object{Action: Changed, Kind: now.kind, Name: now.name, before: was[i].content, after: now.content}
		if was[i].name != now.name {
			object.Was = was[i].name
		}
		was = slices.Delete(was, i, i+1)
		object.Fields = compare(object.before, object.after)
		if len(object.Fields) > 0 || object.Was != "" {
			found = append(found, object)
		}
	}
	for _, gone := range was {
		action := Removed
		if gone.retained {
			action = Kept
		}
		found = append(found, Object{Action: action, Kind: gone.kind, Name: gone.name, before: gone.content})
	}
	return found, nil
}

// replaces reports whether an object takes the place of another one. The name of a ConfigMap with a configuration
// contains the digest of its content.
func (c child) replaces(other child) bool {
	return c.kind == other.kind && (c.name == other.name || c.role != "" && c.role == other.role)
}

func children(of *plan.Plan) ([]child, error) {
	if of == nil {
		return nil, nil
	}
	values := make(map[string][]byte, len(of.Derived))
	for _, value := range of.Derived {
		values[value.Key] = []byte{}
	}
	retained := map[string]bool{}
	for _, kind := range render.ChildKinds() {
		retained[kind.Kind] = kind.Retained
	}
	var found []child
	for _, object := range of.WithStorageSecret(values) {
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

// withoutRecords removes the annotations in which the operator keeps what it rendered, from an object that is not
// shared.
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

// title names an object.
func (o *Object) title() string { return o.Kind + "/" + cmp.Or(o.Name, o.Was) }
