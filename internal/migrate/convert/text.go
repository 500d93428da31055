package convert

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/jsontext"
)

// isText reports whether a raw string has the given value, which must be plain ASCII.
func isText(raw []byte, want string) bool {
	if string(raw[1:len(raw)-1]) == want {
		return true
	}
	return bytes.IndexByte(raw, '\\') >= 0 && text(raw) == want
}

// usualKeys holds the keys that most objects have, so that these keys do not need an allocation.
var usualKeys = func() map[string]string {
	keys := make(map[string]string)
	for _, f := range fields {
		for _, key := range slices.Concat(f.older, f.hub) {
			keys[key] = key
		}
	}
	for _, key := range []string{
		"apiVersion", "kind", "metadata", "status",
		"annotations", "creationTimestamp", "finalizers", "generation", "labels", "managedFields", "name", "namespace",
		"resourceVersion", "uid",
		"availableReplicas", "conditions", "configGeneration", "distributionConfig", "observedGeneration", "phase",
		"serviceURL", "version",
		"lastTransitionTime", "message", "reason", "type",
		"activeDistribution", "api", "health", "provider_id", "provider_type",
	} {
		keys[key] = key
	}
	return keys
}()

// keyText returns the value of a raw key.
func keyText(raw []byte) string {
	if key, ok := usualKeys[string(raw[1:len(raw)-1])]; ok {
		return key
	}
	return text(raw)
}

// text returns the value of a raw string.
func text(raw []byte) string {
	if isPlain(raw) {
		return string(raw[1 : len(raw)-1])
	}
	var result string
	if err := json.Unmarshal(raw, &result); err != nil {
		return "" // a string of valid JSON can be decoded
	}
	return result
}

// isPlain reports whether a raw string is plain ASCII without escapes.
func isPlain(raw []byte) bool {
	return jsontext.PlainASCII(raw, 1) == len(raw)-1
}
