package convert

import (
	"bytes"
	"encoding/json"
	"slices"
)

// isText reports whether a raw text says something, which is plain ASCII.
func isText(raw []byte, want string) bool {
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1:len(raw)-1]) == want
	}
	return text(raw) == want
}

// usualKeys are the keys of most objects: they take no memory.
var usualKeys = func() map[string]string {
	keys := make(map[string]string)
	for _, f := range fields {
		for _, key := range slices.Concat(f.older, f.hub) {
			keys[key] = key
		}
	}
	for _, key := range []string{
		"apiVersion", "kind", "metadata", "status",
		"annotations", "creationTimestamp", "finalizers", "generation", "labels", "managedFields", "name", "namespace", "resourceVersion", "uid",
		"availableReplicas", "conditions", "configGeneration", "distributionConfig", "observedGeneration", "phase", "serviceURL", "version",
		"lastTransitionTime", "message", "reason", "type",
		"activeDistribution", "api", "health", "provider_id", "provider_type",
	} {
		keys[key] = key
	}
	return keys
}()

// keyText is what a raw key says.
func keyText(raw []byte) string {
	if key, ok := usualKeys[string(raw[1:len(raw)-1])]; ok {
		return key
	}
	return text(raw)
}

// text is what a raw text says.
func text(raw []byte) string {
	if isPlain(raw) {
		return string(raw[1 : len(raw)-1])
	}
	var result string
	if err := json.Unmarshal(raw, &result); err != nil {
		return "" // a text of valid JSON can be read
	}
	return result
}

// isPlain reports whether a raw text is spelt as everybody would spell it.
func isPlain(raw []byte) bool {
	for _, c := range raw {
		if c < ' ' || c > '~' || c == '\\' {
			return false
		}
	}
	return true
}
