package convert

import (
	"errors"
	"fmt"
	"slices"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha1"
	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

// maxDepth is how deep objects and lists may be nested in an object. The API
// server's decoder takes 10,000, and a review nests an object in others.
const maxDepth = 9_900

// roomForMarks is by how many bytes a converted object is longer at most, usually:
// the annotation, and the conditions that only v1alpha1 has.
const roomForMarks = 4 << 10

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
	from := takeArena()
	defer from.giveBack()
	o, err := parse(object, from)
	if err != nil {
		return dst, err
	}
	if err := check(o); err != nil {
		return dst, err
	}
	dst = slices.Grow(dst, len(object)+roomForMarks)
	switch version := o.get("apiVersion"); {
	case version.says(to):
		return append(dst, object...), nil
	case version.says(v1alpha1.GroupVersion.String()):
		_, _ = toHubObject(o) // what its annotation has is for DataProblem
	default:
		_, _ = fromHubObject(o)
	}
	return o.appendTo(dst), nil
}

// looked are the objects that conversion looks into in every object, of either version.
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

// parse reads an object, and opens what conversion looks into in every one.
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
		return nil, fmt.Errorf("it is nested %d deep, and %d can be converted: make it flatter, or delete it", r.deepest, maxDepth)
	}
	return o, nil
}

// check refuses what no API server sends here.
func check(o *object) error {
	if kind := o.get("kind"); !kind.says(v1alpha1.Kind) {
		return fmt.Errorf("kind %s is not converted here, only %s: correct spec.conversion of its CustomResourceDefinition",
			quoted(kind), v1alpha1.Kind)
	}
	version := o.get("apiVersion")
	if known, _ := version.text(); !slices.Contains(Versions, known) {
		return fmt.Errorf("apiVersion %s is not known: use one of %q", quoted(version), Versions)
	}
	if o.objectAt("metadata") == nil {
		return errors.New("metadata is missing or no object")
	}
	return nil
}

// quoted is a value for a message, in short.
func quoted(v value) string {
	if text, ok := v.text(); ok {
		return fmt.Sprintf("%q", abbreviated(text))
	}
	return abbreviated(string(encode(v)))
}
