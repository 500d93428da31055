package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"

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
		text := withPlace(problem, reflect.TypeOf(older))
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
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var values map[string]any
	if err := decoder.Decode(&values); err != nil {
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

// missingOlder names the first required field that a document lacks.
func missingOlder(data []byte) string {
	var object struct {
		Spec *struct {
			Server *struct {
				Distribution *struct{} `json:"distribution"`
			} `json:"server"`
		} `json:"spec"`
	}
	if json.Unmarshal(data, &object) != nil {
		return ""
	}
	const remedy = ": required: the server to run, {name: starter} or {image: <image>}"
	switch {
	case object.Spec == nil || object.Spec.Server == nil || object.Spec.Server.Distribution == nil:
		return "spec.server.distribution" + remedy
	default:
		return ""
	}
}
