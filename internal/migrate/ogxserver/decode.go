package ogxserver

import (
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/typecheck"
)

const (
	// Kind is the kind that this package reads.
	Kind = "OGXServer"
	// Group is the API group of that kind.
	Group = "ogx.io"
	// APIVersion is the only version of that kind.
	APIVersion = Group + "/v1beta1"
)

// Check returns the problems in an OGXServer, which is given as JSON values with numbers as json.Number. Problems are
// an unsupported version, unknown fields, values that do not fit their field, missing required fields, and a
// distribution with both a name and an image. Each problem contains a path. Check ignores the status.
func Check(object map[string]any) []string {
	var problems []string
	if version := object["apiVersion"]; version != APIVersion {
		problems = append(problems, fmt.Sprintf("apiVersion: this command does not read version %q of %s; use %s",
			fmt.Sprint(version), Kind, APIVersion))
	}
	checked := make(map[string]any, len(object))
	for name, value := range object {
		if name != "status" {
			checked[name] = value
		}
	}
	_, found := typecheck.Check(checked, reflect.TypeFor[server]())
	for _, problem := range found {
		problems = append(problems, problem.String())
	}
	if len(found) > 0 {
		return problems
	}
	return append(problems, missing(checked)...)
}

// missing returns a problem for each required field that is missing, and for a distribution with both a name and an
// image.
func missing(object map[string]any) []string {
	var problems []string
	if name, generated := at(object, "metadata", "name"), at(object, "metadata", "generateName"); name == nil &&
		generated == nil {
		problems = append(problems, "metadata.name: required: set the name of the OGXServer")
	}
	if at(object, "spec", "distribution") != nil {
		problems = append(problems, oneDistribution(object)...)
	}
	for _, path := range typecheck.Missing(object["spec"], reflect.TypeFor[spec](), "spec") {
		problems = append(problems, path+": required")
	}
	if object["spec"] == nil {
		problems = append(problems, "spec: required")
	}
	return problems
}

func oneDistribution(object map[string]any) []string {
	name, image := at(object, "spec", "distribution", "name"), at(object, "spec", "distribution", "image")
	switch {
	case name == nil && image == nil:
		return []string{"spec.distribution: set name (a known distribution, for example starter) or image"}
	case name != nil && image != nil:
		return []string{"spec.distribution: name and image are mutually exclusive; remove one of them"}
	default:
		return nil
	}
}

// at returns the value at a path in an object, or nil if there is none.
func at(object map[string]any, steps ...string) any {
	value, _, _ := unstructured.NestedFieldNoCopy(object, steps...) // a value that is not an object has no fields
	return value
}
