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
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/typecheck"
	"github.com/llamastack/llama-stack-k8s-operator/internal/migrate/convert"
)

// decode reads a v1alpha1 or v1alpha2 stack as v1alpha2. Warnings describe what the conversion changes. Problems
// describe values that do not fit their type. The function checks the types itself, because the API server does not
// validate values that a conversion restores.
func decode(raw []byte) (decoded *stack, warnings, problems []string) {
	value, warnings, err := parse(raw)
	if err != nil {
		return nil, nil, []string{err.Error()}
	}
	decoded, problems = fit(value)
	return decoded, warnings, problems
}

// parse reads a v1alpha1 or v1alpha2 stack as the JSON value of v1alpha2, without checking the types in it.
func parse(raw []byte) (value any, warnings []string, err error) {
	if raw, err = reduced(raw); err != nil {
		return nil, nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		return nil, nil, fmt.Errorf("read the object in the request: %w", err)
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
	return value, warnings, nil
}

// keepsSpec reports whether an update leaves the spec exactly as it is stored. It compares the specs as text or as JSON
// values, so it also works if a spec is too large, or if a value does not fit its type.
func keepsSpec(request admission.Request) bool {
	if request.Operation != admissionv1.Update {
		return false
	}
	var stored, updated parts
	if json.Unmarshal(request.OldObject.Raw, &stored) == nil && json.Unmarshal(request.Object.Raw, &updated) == nil &&
		bytes.Equal(stored.Spec, updated.Spec) {
		return true
	}
	before, _, err := parse(request.OldObject.Raw)
	after, _, otherErr := parse(request.Object.Raw)
	if err != nil || otherErr != nil {
		return false
	}
	old, isObject := before.(map[string]any)
	other, isOther := after.(map[string]any)
	return isObject && isOther && reflect.DeepEqual(old["spec"], other["spec"])
}

// isDeleted reports whether the object of a request is being deleted. It does not decode the spec, because a value that
// does not fit must not prevent the removal of a finalizer.
func isDeleted(raw []byte) bool {
	var found parts
	return json.Unmarshal(raw, &found) == nil && found.Metadata.DeletionTimestamp != ""
}

// loses returns an error for an update through v1alpha1 that would remove fields of the stored object, because the
// annotation for such fields could not hold them.
func loses(request admission.Request) error {
	var before map[string]any
	raw, err := reduced(request.OldObject.Raw)
	isObject := err == nil && json.Unmarshal(raw, &before) == nil
	if !isObject || before["apiVersion"] != v1alpha1.GroupVersion.String() {
		return nil // there is no stored object, or the request does not use v1alpha1
	}
	problem := convert.DataProblem(before)
	if !errors.Is(problem, convert.ErrOmitted) {
		return nil // other problems cause only warnings
	}
	return problem
}

// fit decodes a value into a stack, or returns the problems with values that do not fit.
func fit(value any) (fitting *stack, problems []string) {
	fitting = &stack{}
	data, err := json.Marshal(value)
	if err == nil {
		err = typecheck.Unmarshal(data, fitting)
	}
	if err == nil {
		return fitting, nil
	}
	_, unfit := typecheck.Check(value, reflect.TypeFor[*stack]())
	for _, problem := range unfit {
		if !problem.Unknown {
			problems = append(problems, problem.String())
		}
	}
	if len(problems) == 0 {
		problems = append(problems, fmt.Sprintf("read the object in the request: %v", err))
	}
	return nil, problems
}

// stored returns the stored object of an update. It returns nil if there is no stored object, or if the object cannot
// be read.
func stored(request admission.Request) *stack {
	if request.Operation != admissionv1.Update {
		return nil
	}
	before, _, problems := decode(request.OldObject.Raw)
	if len(problems) > 0 {
		return nil
	}
	return before
}
