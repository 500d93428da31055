package admission

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/validate"
)

const (
	// maxSpec is the maximum size of a spec that is decoded, in bytes of JSON. A spec can be a bit shorter after it is
	// decoded, for which validate.MaxSpecBytes is the limit.
	maxSpec = validate.MaxSpecBytes + validate.MaxSpecBytes/4
	// maxReduced bounds the parts of an object that are decoded. The API server bounds the annotations to 256 KiB, which
	// can be longer as JSON.
	maxReduced = 1 << 20
)

// parts are the parts of a stack that the rules read. The other parts, such as labels and managed fields, have no
// bound, and are not decoded.
type parts struct {
	APIVersion json.RawMessage `json:"apiVersion,omitempty"`
	Kind       json.RawMessage `json:"kind,omitempty"`
	Metadata   struct {
		Name              json.RawMessage `json:"name,omitempty"`
		Namespace         json.RawMessage `json:"namespace,omitempty"`
		Annotations       json.RawMessage `json:"annotations,omitempty"`
		DeletionTimestamp string          `json:"deletionTimestamp,omitempty"`
	} `json:"metadata"`
	Spec   json.RawMessage `json:"spec,omitempty"`
	Status struct {
		ResolvedDistribution json.RawMessage `json:"resolvedDistribution,omitempty"`
	} `json:"status"`
}

// reduced returns an object with only the parts that the rules read. It returns an error if they are too large to be
// decoded. It compares the sizes of the texts, because a decoded list takes up to fifty times the memory of its text.
func reduced(raw []byte) ([]byte, error) {
	var found parts
	if err := json.Unmarshal(raw, &found); err != nil {
		return raw, bounded(raw) // fit reports the error
	}
	if size := len(found.Spec); size > maxSpec {
		return nil, errors.New("spec: " + validate.LargeSpec(size))
	}
	data, err := json.Marshal(&found)
	if err != nil {
		return raw, bounded(raw)
	}
	return data, bounded(data)
}

func bounded(data []byte) error {
	if len(data) > maxReduced {
		return fmt.Errorf("the object has %d bytes without labels and managed fields, but at most %d are supported: make its "+
			"annotations shorter", len(data), maxReduced)
	}
	return nil
}
