package refusal

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

// Error is the API server's rejection of an object with invalid fields.
type Error struct {
	// Texts explain the rejection, one for each field. A text begins with the path of a field in the spec if the field is
	// known.
	Texts []string

	err error
}

// Error returns the explanations of all fields, one on each line.
func (e *Error) Error() string { return strings.Join(e.Texts, "\n") }

// Unwrap returns the API server's answer.
func (e *Error) Unwrap() error { return e.err }

// Explain explains an error with which the API server rejected an object of a stack. It returns any other error
// unchanged.
func Explain(err error, stack *v1alpha2.LlamaStackDistribution, object *unstructured.Unstructured) error {
	answer, ok := errors.AsType[*apierrors.StatusError](err)
	if !ok || !Invalid(err) {
		return err
	}
	source, convertErr := newSource(stack)
	if convertErr != nil {
		return errors.Join(err, convertErr)
	}
	found := &Error{err: err}
	for _, cause := range answer.ErrStatus.Details.Causes {
		if text := source.explain(cause, object); !slices.Contains(found.Texts, text) {
			found.Texts = append(found.Texts, text)
		}
	}
	return found
}

// source is the stack from which objects are rendered.
type source struct {
	// spec is an object with the spec, as JSON values.
	spec map[string]any
}

func newSource(stack *v1alpha2.LlamaStackDistribution) (*source, error) {
	spec, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&stack.Spec)
	if err != nil {
		return nil, fmt.Errorf("read the spec of stack %q: %w", stack.Name, err)
	}
	return &source{spec: map[string]any{"spec": spec}}, nil
}

// explain explains the rejection of one field of an object.
func (s *source) explain(cause metav1.StatusCause, object *unstructured.Unstructured) string {
	reason := reasonOf(cause.Message)
	if found := s.field(parse(cause.Field), object); found != nil {
		return fmt.Sprintf("%s: the API server rejects %s %q: %s", found, object.GetKind(), Name(object), reason)
	}
	return fmt.Sprintf("the API server rejects %s %q: %s: %s", object.GetKind(), Name(object), cause.Field, reason)
}

// Name returns the name of an object. A Pod that only exists for a check has the name of its stack.
func Name(object *unstructured.Unstructured) string {
	if name := object.GetName(); name != "" {
		return name
	}
	return strings.TrimSuffix(object.GetGenerateName(), "-")
}

// has reports whether the spec sets a field.
func (s *source) has(p path) bool {
	_, ok := p.at(s.spec)
	return ok
}

// value returns a value in the spec, or nil.
func (s *source) value(p path) any {
	value, _ := p.at(s.spec)
	return value
}

// list returns a list in the spec, or nil.
func (s *source) list(p path) []any {
	items, _ := s.value(p).([]any)
	return items
}
