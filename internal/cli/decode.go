package cli

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/schema"
)

// peek reads the type of a document.
func peek(doc document) (metav1.TypeMeta, error) {
	var meta metav1.TypeMeta
	if err := yaml.Unmarshal(doc.data, &meta); err != nil {
		return meta, fmt.Errorf("read %s: %w", doc.file, err)
	}
	return meta, nil
}

// decodeStack decodes strictly: a field nobody reads is an error here, as it is
// with kubectl, because the API server would drop it in silence.
func decodeStack(doc document, meta metav1.TypeMeta, namespace string) stack {
	found := stack{file: doc.file, object: &v1alpha2.LlamaStackDistribution{}}
	data, err := yaml.YAMLToJSONStrict(doc.data)
	if err != nil {
		found.errs = []string{err.Error()}
		return found
	}
	strict, err := kjson.UnmarshalStrict(data, found.object)
	if err != nil {
		found.errs = []string{err.Error()}
		return found
	}
	found.decoded = true
	found.object.Namespace = namespaceOr(found.object.Namespace, namespace)
	if wrong := wrongVersion(meta.APIVersion); wrong != "" {
		found.errs = append(found.errs, wrong)
	}
	for _, err := range strict {
		found.errs = append(found.errs, explainStrict(err))
	}
	return found
}

// wrongVersion says what is wrong with an apiVersion. Two groups are in
// circulation that never existed; a document that copies one gets told.
func wrongVersion(apiVersion string) string {
	want := v1alpha2.GroupVersion.String()
	group, version, _ := strings.Cut(apiVersion, "/")
	switch {
	case apiVersion == want:
		return ""
	case group == v1alpha2.GroupVersion.Group:
		return fmt.Sprintf("apiVersion: %q is not a version this command reads; write %s", apiVersion, want)
	case version == "":
		return fmt.Sprintf("apiVersion: %q has no group; write %s", apiVersion, want)
	default:
		return fmt.Sprintf("apiVersion: %q is not a group of this operator, its group is %s; write %s",
			apiVersion, v1alpha2.GroupVersion.Group, want)
	}
}

var unknownField = regexp.MustCompile(`^unknown field "(.+)"$`)

// explainStrict turns the decoder's `unknown field "spec.networkin"` into the
// form all our errors have, with the nearest known name.
func explainStrict(err error) string {
	match := unknownField.FindStringSubmatch(err.Error())
	if match == nil {
		return err.Error()
	}
	parent, name := splitPath(match[1])
	message := match[1] + ": unknown field"
	if near := schema.Nearest(name, fieldNames(parent)); near != "" {
		message += fmt.Sprintf(", did you mean %q?", near)
	}
	return message
}

func splitPath(path string) (parent []string, name string) {
	steps := strings.Split(path, ".")
	return steps[:len(steps)-1], steps[len(steps)-1]
}

// fieldNames lists the JSON names of the struct at a path of the object.
func fieldNames(path []string) []string {
	typ := reflect.TypeFor[v1alpha2.LlamaStackDistribution]()
	for _, step := range path {
		name, _, _ := strings.Cut(step, "[")
		if typ = fieldType(typ, name); typ == nil {
			return nil
		}
	}
	if typ.Kind() != reflect.Struct {
		return nil
	}
	var found []string
	for field := range typ.Fields() {
		if name := jsonName(field); name != "" && name != "-" {
			found = append(found, name)
		}
	}
	return found
}

// fieldType follows one step and looks through pointers, lists and maps.
func fieldType(typ reflect.Type, name string) reflect.Type {
	if typ.Kind() == reflect.Map {
		return element(typ.Elem())
	}
	if typ.Kind() != reflect.Struct {
		return nil
	}
	for field := range typ.Fields() {
		if jsonName(field) == name {
			return element(field.Type)
		}
	}
	return nil
}

func element(typ reflect.Type) reflect.Type {
	for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice {
		typ = typ.Elem()
	}
	return typ
}

func jsonName(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	return name
}
