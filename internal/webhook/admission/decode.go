package admission

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	admissionv1 "k8s.io/api/admission/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha1"
	"github.com/llamastack/llama-stack-k8s-operator/internal/convert"
	"github.com/llamastack/llama-stack-k8s-operator/internal/typecheck"
)

// decode reads a stack of either version as v1alpha2. Warnings are about what the
// conversion does with it. Problems are parts that do not fit their type: the API
// server does not check what a conversion restores.
func decode(raw []byte) (object *stack, warnings, problems []string) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, nil, []string{fmt.Sprintf("read the object of the request: %v", err)}
	}
	if fields, ok := value.(map[string]any); ok {
		if err := convert.DataProblem(fields); err != nil {
			warnings = append(warnings, err.Error())
		}
		if fields["apiVersion"] == v1alpha1.GroupVersion.String() {
			warnings = append(warnings, convert.Warnings(fields)...)
			value = convert.ToHub(fields)
		}
	}
	object, problems = fit(value)
	return object, warnings, problems
}

// loses is an error where an update takes away what the stored object has beside
// the one of v1alpha1 that was read: more than an annotation can carry.
func loses(request admission.Request) error {
	var before map[string]any
	isObject := json.Unmarshal(request.OldObject.Raw, &before) == nil
	if !isObject || before["apiVersion"] != v1alpha1.GroupVersion.String() {
		return nil // there is none, or it shows all
	}
	problem := convert.DataProblem(before)
	if !errors.Is(problem, convert.ErrOmitted) {
		return nil // any other is warned of
	}
	return problem
}

// fit decodes a value into a stack, or tells what of it does not fit.
func fit(value any) (object *stack, problems []string) {
	object = &stack{}
	data, err := json.Marshal(value)
	if err == nil {
		err = json.Unmarshal(data, object)
	}
	if err == nil {
		return object, nil
	}
	_, unfit := typecheck.Check(value, reflect.TypeFor[*stack]())
	for _, problem := range unfit {
		if !problem.Unknown {
			problems = append(problems, problem.String())
		}
	}
	if len(problems) == 0 {
		problems = append(problems, fmt.Sprintf("read the object of the request: %v", err))
	}
	return nil, problems
}

// stored returns the object of an update as it is stored. Nil: there is none, or
// it cannot be read.
func stored(request admission.Request) *stack {
	if request.Operation != admissionv1.Update {
		return nil
	}
	object, _, problems := decode(request.OldObject.Raw)
	if len(problems) > 0 {
		return nil
	}
	return object
}
