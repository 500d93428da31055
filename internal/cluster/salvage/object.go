package salvage

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"

	kjson "sigs.k8s.io/json"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/nesting"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/typecheck"
)

// MaxDepth is the maximum nesting of an object that is decoded as it is. The policy admits specs of about 20 levels.
const MaxDepth = 100

// stack is the type into which the operator decodes a stack.
var stack = reflect.TypeFor[v1alpha2.LlamaStackDistribution]()

// Object returns an object that a client can decode, and the problem with the original. It returns an object without a
// problem unchanged. In any other object, the annotation names.UnreadableSpec contains the problem. Kubernetes rejects
// the name of this annotation, so no client can write such an object back.
func Object(data []byte) (readable []byte, problem string) {
	var kind struct{ APIVersion, Kind string }
	readable, deepest := nesting.Cut(data, MaxDepth)
	if deepest > MaxDepth {
		problem = fmt.Sprintf("spec: is nested %d levels deep, and cannot be read: delete the stack", deepest)
	}
	if json.Unmarshal(readable, &kind) != nil {
		return data, "" // the client reports that this is not JSON
	}
	isStack := kind.APIVersion == v1alpha2.GroupVersion.String() && kind.Kind == v1alpha2.Kind
	if isStack && problem == "" {
		problem = undecodable(data)
	}
	if problem == "" {
		return data, ""
	}
	return marked(readable, isStack, problem), problem
}

// undecodable returns the reason for which an object cannot be decoded, or an empty string.
func undecodable(data []byte) string {
	if costly := typecheck.Costly(data, stack); len(costly) > 0 {
		return costly[0].String()
	}
	err := kjson.UnmarshalCaseSensitivePreserveInts(data, reflect.New(stack).Interface())
	if err == nil {
		return ""
	}
	if value, ok := decoded(data); ok {
		_, problems := typecheck.Check(value, stack)
		for _, problem := range problems {
			if !problem.Unknown {
				return problem.String()
			}
		}
	}
	return "spec: cannot be decoded: " + err.Error()
}

func decoded(data []byte) (value any, ok bool) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	err := decoder.Decode(&value)
	return value, err == nil
}

// marked returns an object without the values that do not fit their types, and with the problem as its annotation.
func marked(data []byte, isStack bool, problem string) []byte {
	value, _ := decoded(data)
	if isStack {
		value, _ = typecheck.Check(value, stack)
	}
	object, isObject := value.(map[string]any)
	metadata, hasMetadata := object["metadata"].(map[string]any)
	if !isObject || !hasMetadata {
		return data
	}
	annotations, ok := metadata["annotations"].(map[string]any)
	if !ok {
		annotations = map[string]any{}
		metadata["annotations"] = annotations
	}
	annotations[names.UnreadableSpec] = problem
	result, err := json.Marshal(object)
	if err != nil {
		return data
	}
	return result
}
