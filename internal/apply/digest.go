package apply

import (
	"crypto/sha256"
	"encoding/json"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// digestOf returns a digest of a desired object. JSON sorts the keys of a map.
func digestOf(wanted *unstructured.Unstructured) [sha256.Size]byte {
	data, _ := json.Marshal(wanted.Object) // JSON values can always be encoded
	return sha256.Sum256(data)
}
