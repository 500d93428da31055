package convert

import (
	"errors"
	"fmt"
	"slices"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha1"
	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/jsontext"
)

// maxDepth bounds the nesting of objects and lists in a converted object. An API server decodes at most 10,000 levels,
// also of a ConversionReview, a list and a record of field managers. The policy admits about 20 levels.
const maxDepth = 1_000

var errTooDeep = errors.New("it is nested too deeply")

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
	from := takeArena()
	defer from.giveBack()
	o, err := parse(object, from)
	if errors.Is(err, errTooDeep) {
		object, _ = jsontext.Cut(object, maxDepth)
		o, err = parse(object, from)
	}
	if err != nil {
		return dst, err
	}
	if err := check(o); err != nil {
		return dst, err
	}
	dst = slices.Grow(dst, len(object)+roomForMarks)
	switch version := o.get("apiVersion"); {
	case version.is(to):
		return append(dst, object...), nil
	case version.is(v1alpha1.GroupVersion.String()):
		_, _ = toHubObject(o) // DataProblem reports problems with the annotation
	default:
		_, _ = fromHubObject(o)
	}
	return o.appendTo(dst), nil
}

// looked contains the nested objects that conversion opens in every object of either version.
var looked = func() shape {
	found := shape{}
	found.add(path{"metadata", annotations})
	found.add(path{"status", "distributionConfig"})
	for _, f := range fields {
		found.add(f.older[:len(f.older)-1])
		found.add(f.hub[:len(f.hub)-1])
	}
	return found
}()

// parse reads an object, and opens the parts that conversion always reads.
func parse(data []byte, from *arena) (*object, error) {
	r := reader{data: data, arena: from, closing: make([]byte, 0, roomForClosing)}
	var o *object
	i := r.space(0)
	if r.at(i) == '{' {
		o, i = r.object(i, looked)
	} else {
		i = r.value(i)
	}
	switch {
	case r.space(i) != len(data):
		return nil, errors.New("it is not JSON")
	case o == nil:
		return nil, errors.New("it is not a JSON object")
	case r.deepest > maxDepth:
		return nil, errTooDeep
	}
	return o, nil
}

// check returns an error for an object with a kind other than LlamaStackDistribution, with a version that is not in
// Versions, or without metadata. An API server sends such an object only if a CustomResourceDefinition is incorrect.
func check(o *object) error {
	if kind := o.get("kind"); !kind.is(v1alpha1.Kind) {
		return fmt.Errorf("kind %s cannot be converted: this webhook converts only %s; correct spec.conversion of its CustomResourceDefinition",
			quoted(kind), v1alpha1.Kind)
	}
	version := o.get("apiVersion")
	if known, _ := version.text(); !slices.Contains(Versions, known) {
		return fmt.Errorf("unknown apiVersion %s; use one of %q", quoted(version), Versions)
	}
	if o.objectAt("metadata") == nil {
		return errors.New("metadata is missing or not an object")
	}
	return nil
}

// quoted returns a shortened value for a message.
func quoted(v value) string {
	if text, ok := v.text(); ok {
		return fmt.Sprintf("%q", abbreviated(text))
	}
	return abbreviated(string(encode(v)))
}
