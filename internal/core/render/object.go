package render

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Object is one child, ready to be applied.
type Object struct {
	// GVK is its kind.
	GVK schema.GroupVersionKind
	// Name is its name, in the namespace of the stack.
	Name string
	// Apply is a pointer to its typed apply configuration.
	Apply runtime.ApplyConfiguration
}

// Objects renders every child that the stack must have, in apply order.
//
// The error reports content that is too large for a ConfigMap (*TooLargeError), a spec that cannot be rendered
// (*InvalidError), or a value in the spec that is not a Kubernetes value.
func Objects(in Input) ([]Object, error) {
	var objects []Object
	for _, kind := range childKinds {
		for _, build := range kind.renderers {
			name, apply, err := build(in)
			if err != nil {
				return nil, err
			}
			if apply != nil {
				objects = append(objects, Object{GVK: kind.GroupVersionKind, Name: name, Apply: apply})
			}
		}
	}
	return objects, nil
}

// Unstructured converts an object to the form that a client sends to the API server. The result shares no memory with
// the rendered object, because a client writes the API server's response into the object that it sends.
func Unstructured(object Object) (*unstructured.Unstructured, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object.Apply)
	if err != nil {
		return nil, fmt.Errorf("convert %s %q: %w", object.GVK.Kind, object.Name, err)
	}
	return &unstructured.Unstructured{Object: content}, nil
}
