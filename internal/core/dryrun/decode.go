package dryrun

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	kjson "sigs.k8s.io/json"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha1"
	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/document"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/typecheck"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/validate"
)

// DecodeStack decodes a document strictly. An unknown field is an error as in kubectl, because the API server would
// drop the field without a message. In v1alpha1, it is only a warning if the definition is not checked, because a stack
// that exists can have been written without strict checks.
func DecodeStack(doc document.Document, namespace string) Stack {
	found := Stack{File: doc.File, doc: &doc, Object: &v1alpha2.LlamaStackDistribution{}}
	if doc.Problem != "" {
		found.Errors = append(found.Errors, doc.Problem)
	}
	if size := specSize(doc.Data, found.Object); size > maxSpec {
		found.Errors = append(found.Errors, "spec: "+validate.LargeSpec(size))
		found.Large = true
		found.Object.Namespace = cmp.Or(found.Object.Namespace, namespace)
		return found
	}
	if doc.Meta.APIVersion == v1alpha1.GroupVersion.String() {
		decodeOlder(doc.Data, &found)
	} else {
		decodeHub(doc.Data, &found)
		if wrong := wrongVersion(doc.Meta.APIVersion); wrong != "" {
			found.Errors = append([]string{wrong}, found.Errors...)
		}
	}
	found.Object.Namespace = cmp.Or(found.Object.Namespace, namespace)
	return found
}

// maxSpec is the maximum size of a spec that is decoded, in bytes of JSON. A spec can be a bit shorter after it is
// decoded, for which validate.MaxSpecBytes is the limit.
const maxSpec = validate.MaxSpecBytes + validate.MaxSpecBytes/4

// specSize returns the size of the spec in a document, without white space. For a spec that is too large, it sets the
// name, the namespace and the labels of the object, because the object is not decoded.
func specSize(data []byte, object *v1alpha2.LlamaStackDistribution) int {
	if len(data) <= maxSpec {
		return 0
	}
	var found struct {
		Spec json.RawMessage `json:"spec"`
	}
	var compact bytes.Buffer
	if json.Unmarshal(data, &found) != nil || json.Compact(&compact, found.Spec) != nil || compact.Len() <= maxSpec {
		return 0
	}
	var named struct {
		Metadata struct {
			Name, Namespace string
			Labels          map[string]string
		} `json:"metadata"`
	}
	if json.Unmarshal(data, &named) == nil {
		object.Name, object.Namespace, object.Labels = named.Metadata.Name, named.Metadata.Namespace, named.Metadata.Labels
	}
	return compact.Len()
}

// decodeHub decodes a v1alpha2 document. For each value that does not fit its field, it records an error.
func decodeHub(data []byte, found *Stack) {
	for _, problem := range decodeFitting(data, found.Object) {
		found.Errors = append(found.Errors, WithPlace(problem, reflect.TypeFor[v1alpha2.LlamaStackDistribution]()))
		if !problem.Unknown {
			found.unfit = append(found.unfit, problem.Path)
		}
	}
	found.Decoded = true
}

// decodeFitting sets the fields of an object to the values that fit them, and returns a problem for every other value.
func decodeFitting(data []byte, into any) []typecheck.Problem {
	var value any
	if err := DecodeNumbers(data, &value); err != nil {
		return []typecheck.Problem{{Message: "is not valid JSON: " + err.Error()}}
	}
	fitting, problems := typecheck.Check(value, reflect.TypeOf(into))
	problems = slices.DeleteFunc(problems, func(p typecheck.Problem) bool {
		return !p.Unknown && within(p.Path, "status") // the API server ignores the values
	})
	problems = append(problems, twice(data, into)...)
	fits, err := json.Marshal(fitting)
	if err == nil {
		err = json.Unmarshal(fits, into)
	}
	if err != nil { // never happens, because the remaining values fit
		problems = append(problems, typecheck.Problem{Message: "cannot be read: " + err.Error()})
	}
	return problems
}

// DecodeNumbers decodes JSON, with each number as a json.Number.
func DecodeNumbers(data []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	return decoder.Decode(into)
}

var duplicateField = regexp.MustCompile(`^duplicate field "(.+)"$`)

// twice returns the duplicate fields in a JSON document. The YAML decoder reports duplicate keys in YAML.
func twice(data []byte, like any) []typecheck.Problem {
	if len(typecheck.Costly(data, reflect.TypeOf(like))) > 0 {
		return nil // another check reports a quantity that must not be parsed
	}
	strict, err := kjson.UnmarshalStrict(data, reflect.New(reflect.TypeOf(like).Elem()).Interface(),
		kjson.DisallowDuplicateFields)
	if err != nil {
		return nil // another check reports values of the wrong type
	}
	var problems []typecheck.Problem
	for _, err := range strict {
		if match := duplicateField.FindStringSubmatch(err.Error()); match != nil {
			problems = append(problems, typecheck.Problem{Path: match[1], Message: "is set twice; remove one of " +
				"the two values", Unknown: true})
		}
	}
	return problems
}

// wrongVersion returns the problem with an apiVersion, or "". Some published examples have an API group that no
// operator serves.
func wrongVersion(apiVersion string) string {
	want := v1alpha2.GroupVersion.String()
	group, version, _ := strings.Cut(apiVersion, "/")
	switch {
	case apiVersion == want:
		return ""
	case group == v1alpha2.GroupVersion.Group:
		return fmt.Sprintf("apiVersion: this command cannot read the version %q; use %s, or %s for a stack with "+
			"the fields of %s", apiVersion, want, v1alpha1.GroupVersion, v1alpha1.GroupVersion.Version)
	case version == "":
		return fmt.Sprintf("apiVersion: %q has no group; use %s", apiVersion, want)
	default:
		return fmt.Sprintf("apiVersion: %q is not in the API group of this operator, which is %s; use %s",
			apiVersion, v1alpha2.GroupVersion.Group, want)
	}
}
