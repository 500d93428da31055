package cli

import (
	"encoding/json"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha1"
	"github.com/llamastack/llama-stack-k8s-operator/internal/convert"
)

// decodeOlder reads a v1alpha1 document as the API server does: it is stored as
// v1alpha2. A field nobody reads is a warning here, because manifests with some
// have always been applied.
func decodeOlder(data []byte, found *stack) {
	found.older = true
	older := &v1alpha1.LlamaStackDistribution{}
	for _, problem := range decodeFitting(data, older) {
		text := withPlace(problem, reflect.TypeFor[v1alpha1.LlamaStackDistribution]())
		if problem.Unknown {
			found.warnings = append(found.warnings, text+"; the API server drops it")
		} else {
			found.errs = append(found.errs, text)
		}
	}
	if missing := missingOlder(data); missing != "" {
		found.errs = append(found.errs, missing)
	}
	if err := convertOlder(older, found); err != nil {
		found.errs = append(found.errs, err.Error())
		return
	}
	found.decoded = len(found.errs) == 0
}

// convertOlder fills the object of a stack; unknown fields are gone by now.
func convertOlder(older *v1alpha1.LlamaStackDistribution, found *stack) error {
	data, err := json.Marshal(older)
	if err != nil {
		return fmt.Errorf("encode v1alpha1: %w", err)
	}
	var values map[string]any
	if err := decodeNumbers(data, &values); err != nil {
		return fmt.Errorf("decode v1alpha1: %w", err)
	}
	found.warnings = append(found.warnings, convert.Warnings(values)...)
	if data, err = json.Marshal(convert.ToHub(values)); err != nil {
		return fmt.Errorf("encode v1alpha2: %w", err)
	}
	if err := json.Unmarshal(data, found.object); err != nil {
		return fmt.Errorf("decode v1alpha2: %w", err)
	}
	return nil
}

// missingOlder names the required field that a document lacks. Where something else is in its way, that is told already.
func missingOlder(data []byte) string {
	var object map[string]any
	if json.Unmarshal(data, &object) != nil {
		return ""
	}
	given, _, err := unstructured.NestedFieldNoCopy(object, "spec", "server", "distribution")
	if given != nil || err != nil {
		return ""
	}
	return "spec.server.distribution: required: the server to run, {name: starter} or {image: <image>}"
}
