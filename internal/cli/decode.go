package cli

import (
	"fmt"
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha1"
	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
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
	if meta.APIVersion == v1alpha1.GroupVersion.String() {
		decodeOlder(data, &found)
	} else {
		decodeHub(data, &found)
		if wrong := wrongVersion(meta.APIVersion); wrong != "" && found.decoded {
			found.errs = append([]string{wrong}, found.errs...)
		}
	}
	found.object.Namespace = namespaceOr(found.object.Namespace, namespace)
	return found
}

func decodeHub(data []byte, found *stack) {
	strict, err := kjson.UnmarshalStrict(data, found.object)
	if err != nil {
		found.errs = []string{explainType(err, data, found.object)}
		return
	}
	found.decoded = true
	for _, err := range strict {
		found.errs = append(found.errs, explainStrict(err, reflect.TypeOf(found.object)))
	}
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
		return fmt.Sprintf("apiVersion: %q is not a version this command reads; write %s, or %s for a stack that is written in it",
			apiVersion, want, v1alpha1.GroupVersion)
	case version == "":
		return fmt.Sprintf("apiVersion: %q has no group; write %s", apiVersion, want)
	default:
		return fmt.Sprintf("apiVersion: %q is not a group of this operator, its group is %s; write %s",
			apiVersion, v1alpha2.GroupVersion.Group, want)
	}
}
