package shape

import (
	"encoding/json"
	"fmt"
	"maps"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

// Shape is an object or a configuration in which one part grows with n.
type Shape struct {
	// Name describes the part that grows.
	Name string
	// Most is approximately the largest n within the limits: 1.5 MiB for an object, the maximum lengths of lists and maps,
	// and 768 KiB for a configuration.
	Most int
	make func(n int) written
}

// written contains a spec as JSON values, and the contents of the ConfigMaps that it refers to.
type written struct {
	spec           object
	base, override string
}

// Stack is an input of the pipeline.
type Stack struct {
	Object *v1alpha2.LlamaStackDistribution
	// Base and Override are the contents of the ConfigMaps that spec.baseConfig and spec.overrideConfig refer to. They are
	// nil if the stack does not refer to a ConfigMap.
	Base, Override []byte
}

// Of returns a stack of the shape with the given n.
func (s *Shape) Of(n int) (Stack, error) {
	made := s.make(n)
	spec := object{"distribution": object{"name": "starter"}}
	maps.Copy(spec, made.spec)
	var stack Stack
	if made.base != "" {
		spec["baseConfig"] = object{"configMapName": "base"}
		stack.Base = []byte(made.base)
	}
	if made.override != "" {
		stack.Override = []byte(made.override)
	}
	data, err := json.Marshal(spec)
	if err != nil {
		return stack, fmt.Errorf("encode the shape %q: %w", s.Name, err)
	}
	stack.Object = &v1alpha2.LlamaStackDistribution{}
	stack.Object.Name, stack.Object.Namespace, stack.Object.UID, stack.Object.Generation = "demo", "team-a", "demo-uid", 1
	if err := json.Unmarshal(data, &stack.Object.Spec); err != nil {
		return stack, fmt.Errorf("decode the shape %q: %w", s.Name, err)
	}
	return stack, nil
}
