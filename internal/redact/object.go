package redact

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
)

// Object returns a copy of a Kubernetes object without secrets. It drops managed fields and the annotations that the
// variable dropped lists. It replaces the values of all other annotations, except those that the variable annotations
// lists. Of the data of a Secret, it keeps only the names of the keys.
func (k *Known) Object(object map[string]any) map[string]any {
	switch object["kind"] {
	case "Secret":
		return k.secret(object)
	case "ConfigMap":
		return k.configMap(object)
	// A definition needs its own function, because its schema has properties with the names of fields that the walker
	// redacts in other objects.
	case "CustomResourceDefinition":
		return k.definition(object)
	default:
		return k.fields(object)
	}
}

// Learn adds the secrets of an object to the known values: the values of a Secret except for certificates, and, for
// other objects, the values that Object replaces because of their place or key.
func (k *Known) Learn(object map[string]any) {
	learning := walker{known: k, hide: k.Add}
	switch object["kind"] {
	case "Secret":
		for _, value := range decoded(object) {
			k.Add(value)
		}
	case "ConfigMap":
		data, _ := object["data"].(map[string]any)
		for _, value := range data {
			text, _ := value.(string)
			learning.config(text)
		}
	case "CustomResourceDefinition":
	default:
		learning.value("", object)
	}
}

func (k *Known) fields(object map[string]any) map[string]any {
	kept, _ := walker{known: k}.value("", object).(map[string]any)
	return kept
}

// secret returns the metadata and the type of a Secret, and the names of its keys.
func (k *Known) secret(object map[string]any) map[string]any {
	data, _ := object["data"].(map[string]any)
	keys := []any{}
	for _, key := range slices.Sorted(maps.Keys(data)) {
		keys = append(keys, key)
	}
	kept := k.fields(head(object))
	kept["type"], kept["keys"] = object["type"], keys
	return kept
}

func (k *Known) configMap(object map[string]any) map[string]any {
	kept := k.fields(head(object))
	if data, is := object["data"].(map[string]any); is {
		shown := map[string]any{}
		for key, value := range data {
			text, _ := value.(string)
			shown[key] = k.Config(text)
		}
		kept["data"] = shown
	}
	if data, is := object["binaryData"].(map[string]any); is {
		shown := map[string]any{}
		for key := range data {
			shown[key] = Mark
		}
		kept["binaryData"] = shown
	}
	return kept
}

func (k *Known) definition(object map[string]any) map[string]any {
	kept := k.fields(head(object))
	kept["spec"] = object["spec"]
	if status, is := object["status"].(map[string]any); is {
		kept["status"] = k.fields(status)
	}
	return kept
}

// head returns the type and the metadata of an object.
func head(object map[string]any) map[string]any {
	return map[string]any{"apiVersion": object["apiVersion"], "kind": object["kind"], "metadata": object["metadata"]}
}

// annotations lists the annotations whose values are never secret.
var annotations = []string{
	names.AnnotationConfigHash, names.AnnotationCABundleHash, names.AnnotationInputs, names.AnnotationGeneration,
	names.AnnotationRendered, names.AnnotationCompat, names.AnnotationContainerName, names.AnnotationRelease,
	names.AnnotationPaused, names.AnnotationAcceptDataLoss, names.AnnotationAllowNamespaces,
	names.AnnotationUserConfigNamespace, names.AnnotationCABundleNamespace, names.AnnotationConstraint,
	"deployment.kubernetes.io/revision", "autoscaling.alpha.kubernetes.io/conditions", "kubectl.kubernetes.io/restartedAt",
	"pv.kubernetes.io/bind-completed", "pv.kubernetes.io/bound-by-controller",
}

// dropped contains the annotations that contain a copy of the object with its secrets.
var dropped = []string{"kubectl.kubernetes.io/last-applied-configuration"}

// variables lists the environment variables that the operator sets. The walker replaces the values of all other
// variables, except variables whose names begin with imagePrefix.
var variables = []string{
	names.EnvModelCache, names.EnvHome, names.EnvConfig, names.EnvRunConfig, names.EnvCABundle, names.EnvRequestsCABundle,
	names.EnvAWSCABundle, names.EnvPort, names.EnvWorkers, names.EnvRegistry, names.EnvGeneration, names.EnvPythonPath,
	names.EnvPreflight, "LLAMA_STACK_PORT", "OGX_PORT", "LLAMA_STACK_LOGGING", "OGX_LOGGING", "OGX_CONFIG",
	"OGX_CONFIG_DIR",
	"POD_NAMESPACE", "GOMEMLIMIT", "GOMAXPROCS",
}

// imagePrefix is the prefix of the operator's variables that hold images.
const imagePrefix = "RELATED_IMAGE_"

func isOurs(variable string) bool {
	return slices.Contains(variables, variable) || strings.HasPrefix(variable, imagePrefix)
}

// size returns the replacement for a string that is not shown. It contains the size of the string.
func size(text string) string { return fmt.Sprintf("<redacted: %d bytes>", len(text)) }
