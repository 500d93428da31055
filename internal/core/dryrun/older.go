package dryrun

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha1"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/typecheck"
	"github.com/llamastack/llama-stack-k8s-operator/internal/migrate/convert"
)

// DroppedField is the end of the message about a field that v1alpha1 does not have.
const DroppedField = "; the API server drops the unknown field"

// decodeOlder decodes a v1alpha1 document, and converts it to v1alpha2 as the API server does.
func decodeOlder(data []byte, found *Stack) {
	found.Older = true
	older := &v1alpha1.LlamaStackDistribution{}
	for _, problem := range decodeFitting(data, older) {
		text := WithPlace(problem, reflect.TypeFor[v1alpha1.LlamaStackDistribution]())
		if problem.Unknown {
			found.dropped = append(found.dropped, text)
		} else {
			found.Errors = append(found.Errors, text)
		}
	}
	found.Errors = append(found.Errors, missingOlder(data)...)
	if err := convertOlder(older, found); err != nil {
		found.Errors = append(found.Errors, err.Error())
		return
	}
	found.Decoded = len(found.Errors) == 0
}

// convertOlder sets the object of a stack to the converted document. The document has no unknown fields.
func convertOlder(older *v1alpha1.LlamaStackDistribution, found *Stack) error {
	data, err := json.Marshal(older)
	if err != nil {
		return fmt.Errorf("encode v1alpha1: %w", err)
	}
	var values map[string]any
	if err := DecodeNumbers(data, &values); err != nil {
		return fmt.Errorf("decode v1alpha1: %w", err)
	}
	found.warnings = append(found.warnings, convert.Warnings(values)...)
	if data, err = json.Marshal(convert.ToHub(values)); err != nil {
		return fmt.Errorf("encode v1alpha2: %w", err)
	}
	if err := typecheck.Unmarshal(data, found.Object); err != nil {
		return fmt.Errorf("decode v1alpha2: %w", err)
	}
	return nil
}

// missingOlder returns an error for each required field that is missing. It skips fields that other checks report.
func missingOlder(data []byte) []string {
	var object map[string]any
	if json.Unmarshal(data, &object) != nil {
		return nil
	}
	given, _, err := unstructured.NestedFieldNoCopy(object, distributionPath...)
	if given == nil && err == nil {
		return []string{"spec.server.distribution: required: specify which server to run: {name: starter} or {image: <image>}"}
	}
	var missing []string
	for _, path := range typecheck.Missing(object["spec"], reflect.TypeFor[v1alpha1.LlamaStackDistributionSpec](), "spec") {
		told := slices.ContainsFunc(toldByIntent, func(told string) bool { return strings.HasPrefix(path, told) })
		// The field "sources" is optional, although its JSON tag has no omitempty option.
		if !told && !strings.HasSuffix(path, ".projected.sources") {
			missing = append(missing, path+": required")
		}
	}
	return missing
}

var distributionPath = []string{"spec", "server", "distribution"}

// toldByIntent lists the fields that are the same in v1alpha2. Package intent reports missing fields below them.
var toldByIntent = []string{
	"spec.server.externalProviders", "spec.server.providers", "spec.server.resources",
	"spec.server.storage.",
}
