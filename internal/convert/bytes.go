package convert

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha1"
	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

// maxDepth is how deep objects and lists may be nested in an object. The API
// server's decoder takes 10,000, and a review nests an object in others.
const maxDepth = 9_900

// roomForMarks is by how many bytes a converted object is usually longer.
const roomForMarks = 1 << 10

// Versions are the versions that conversion converts between, as apiVersion.
var Versions = []string{v1alpha1.GroupVersion.String(), v1alpha2.GroupVersion.String()}

// AppendJSON adds an object in the version to, one of Versions, to dst. An object
// that is of that version is added as it is. What conversion does not look at is
// copied byte by byte: the memory needed is that of the result, and little more.
//
// It is an error when object is no JSON, is nested deeper than an API server
// reads, is of another kind or version, or has no metadata. Nothing else in a
// LlamaStackDistribution is one.
func AppendJSON(dst, object []byte, to string) ([]byte, error) {
	values, err := parse(object)
	if err != nil {
		return dst, err
	}
	if err := check(values); err != nil {
		return dst, err
	}
	dst = slices.Grow(dst, len(object)+roomForMarks)
	switch at(values, path{"apiVersion"}) {
	case to:
		return append(dst, object...), nil
	case v1alpha1.GroupVersion.String():
		values, _ = toHubObject(values)
	default:
		values, _ = fromHubObject(values)
	}
	return appendValue(dst, values), nil
}

// parse opens an object. The status is read whole, as what is derived from it
// needs it: it is the operator's own, and small.
func parse(object []byte) (map[string]any, error) {
	if !json.Valid(object) {
		return nil, errors.New("it is not JSON")
	}
	start := skipSpace(object, 0)
	if object[start] != '{' {
		return nil, errors.New("it is not a JSON object")
	}
	// Each level takes a byte, so that most objects need not be counted through.
	if len(object) > maxDepth {
		if depth := depthOf(object); depth > maxDepth {
			return nil, fmt.Errorf("it is nested %d deep, and %d can be converted: make it flatter, or delete it", depth, maxDepth)
		}
	}
	values := fieldsOf(object[start:])
	if raw, ok := values["status"].(json.RawMessage); ok {
		values["status"] = decode(raw)
	}
	for _, field := range []string{"apiVersion", "kind"} {
		values[field] = opened(values[field])
	}
	return values, nil
}

// check refuses what no API server sends here.
func check(values map[string]any) error {
	if values["kind"] != v1alpha1.Kind {
		return fmt.Errorf("kind %s is not converted here, only %s: correct spec.conversion of its CustomResourceDefinition",
			quoted(values["kind"]), v1alpha1.Kind)
	}
	version, _ := values["apiVersion"].(string)
	if !slices.Contains(Versions, version) {
		return fmt.Errorf("apiVersion %s is not known: use one of %q", quoted(values["apiVersion"]), Versions)
	}
	if _, ok := at(values, path{"metadata"}).(map[string]any); !ok {
		return errors.New("metadata is missing or no object")
	}
	return nil
}

// quoted is a value for a message, in short.
func quoted(value any) string {
	if text, ok := value.(string); ok {
		return fmt.Sprintf("%q", abbreviated(text))
	}
	return abbreviated(string(encode(value)))
}
