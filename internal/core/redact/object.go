package redact

import (
	"fmt"
	"maps"
	"slices"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// Object returns a copy of a Kubernetes object with the values at known-good places (see places.go). It drops managed
// fields and the annotations that the variable dropped lists. Of the data of a Secret, it keeps only the names of the
// keys.
func (k *Known) Object(object map[string]any) map[string]any {
	switch object["kind"] {
	case "Secret":
		return k.secret(object)
	case "ConfigMap":
		return k.configMap(object)
	// Only an administrator can write these objects, and their schema or rules have no values of a stack.
	case "CustomResourceDefinition", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding",
		"ValidatingWebhookConfiguration":
		return k.definition(object)
	default:
		return k.fields(object)
	}
}

// Learn adds the secrets of an object to the known values: the values of a Secret except for certificates, and, for
// other objects, the values that Object replaces because of their place or key.
func (k *Known) Learn(object map[string]any) {
	learning := walker{known: k, hide: k.withhold}
	switch object["kind"] {
	case "Secret":
		for _, value := range decoded(object) {
			k.Add(value)
		}
	case "ConfigMap":
		data, _ := object["data"].(map[string]any)
		for key, value := range data {
			text, _ := value.(string)
			if value, ok := parse(text); ok {
				learning.value(file(object, key), value)
			}
		}
		learning.value(root, head(object))
	case "CustomResourceDefinition", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding",
		"ValidatingWebhookConfiguration":
	default:
		learning.value(root, object)
	}
}

func (k *Known) fields(object map[string]any) map[string]any {
	kept, _ := walker{known: k}.value(root, object).(map[string]any)
	reason, _ := object["reason"].(string)
	for _, field := range []string{"message", "note"} { // of an event
		if text, is := object[field].(string); is && (slices.Contains(reasons, reason) || isOurEvent(object)) {
			kept[field] = k.Text(text)
		}
	}
	return kept
}

// isOurEvent reports whether the operator recorded an event.
func isOurEvent(event map[string]any) bool {
	source, _ := event["source"].(map[string]any)
	return slices.Contains([]any{
		event["reportingController"], event["reportingComponent"], source["component"],
	}, any(names.EventReporter))
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
			shown[key] = k.file(file(object, key), text)
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
	for _, field := range []string{"spec", "webhooks"} {
		if value, is := object[field]; is {
			kept[field] = value
		}
	}
	if status, is := object["status"].(map[string]any); is {
		kept["status"] = walker{known: k}.value(root.At("status"), status)
	}
	return kept
}

// head returns the type and the metadata of an object.
func head(object map[string]any) map[string]any {
	return map[string]any{"apiVersion": object["apiVersion"], "kind": object["kind"], "metadata": object["metadata"]}
}

// size returns the replacement for a string that is not shown. It contains the size of the string.
func size(text string) string { return fmt.Sprintf("<redacted: %d bytes>", len(text)) }
