package convert

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha1"
	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/nesting"
)

// maxDepth bounds the nesting of objects and lists in a converted object. An API server decodes at most 10,000 levels,
// also of a ConversionReview, a list and a record of field managers. The policy admits about 20 levels.
const maxDepth = 1_000

// roomForMarks is the usual maximum size of the annotation and the conditions that a conversion adds.
const roomForMarks = 4 << 10

// Versions lists the API versions that can be converted, as values of apiVersion.
var Versions = []string{v1alpha1.GroupVersion.String(), v1alpha2.GroupVersion.String()}

// AppendJSON converts an object to an API version, and appends the result to dst. The parameter `to` is the version,
// one of Versions. An object that already has that version is appended unchanged. Parts that conversion does not read
// are copied byte by byte, so conversion needs little more memory than the result.
//
// AppendJSON cuts an object that has more than maxDepth levels, because an error about one object would fail every list
// of stacks in the other version. The rest is still too deep for the policy, so a new object is never stored cut.
//
// AppendJSON returns an error if the object is not JSON, has a kind other than LlamaStackDistribution, has a version
// that is not in Versions, or has no metadata. It returns no error for any other LlamaStackDistribution.
func AppendJSON(dst, object []byte, to string) ([]byte, error) {
	if bytes.Count(object, []byte("{"))+bytes.Count(object, []byte("[")) > maxDepth { // otherwise, it cannot be deeper
		object, _ = nesting.Cut(object, maxDepth)
	}
	value, err := open(object)
	if err != nil {
		return dst, errors.New("it is not JSON")
	}
	o, ok := value.(tree)
	if !ok {
		return dst, errors.New("it is not a JSON object")
	}
	if err := check(o); err != nil {
		return dst, err
	}
	dst = slices.Grow(dst, len(object)+roomForMarks)
	switch text(o["apiVersion"]) {
	case to:
		return append(dst, object...), nil
	case v1alpha1.GroupVersion.String():
		_, _ = toHubObject(o) // DataProblem reports problems with the annotation
	default:
		_, _ = fromHubObject(o)
	}
	return appendJSON(dst, o), nil
}

// check returns an error for an object with a kind other than LlamaStackDistribution, with a version that is not in
// Versions, or without metadata. An API server sends such an object only if a CustomResourceDefinition is incorrect.
func check(o tree) error {
	if text(o["kind"]) != v1alpha1.Kind {
		return fmt.Errorf("kind %s cannot be converted: this webhook converts only %s; "+
			"correct spec.conversion of its CustomResourceDefinition", quoted(o["kind"]), v1alpha1.Kind)
	}
	if version := o["apiVersion"]; !slices.Contains(Versions, text(version)) {
		return fmt.Errorf("unknown apiVersion %s; use one of %q", quoted(version), Versions)
	}
	if kind(o["metadata"]) != '{' {
		return errors.New("metadata is missing or not an object")
	}
	return nil
}

// quoted returns a shortened value for a message.
func quoted(v any) string {
	if kind(v) == '"' {
		return fmt.Sprintf("%q", abbreviated(text(v)))
	}
	return abbreviated(string(appendJSON(nil, v)))
}
