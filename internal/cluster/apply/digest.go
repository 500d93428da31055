package apply

import (
	"crypto/sha256"
	"encoding/json"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// digestOf returns a digest of a desired object. The digest is stable, because json.Marshal sorts the keys of maps.
func digestOf(wanted *unstructured.Unstructured) [sha256.Size]byte {
	data, _ := json.Marshal(wanted.Object) // JSON values can always be encoded
	return sha256.Sum256(data)
}
