package validate

import (
	"encoding/json"
	"fmt"
	"strconv"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

// MaxSpecBytes is the most that a spec may have, as JSON: what a ConfigMap can hold belongs there. The API server takes six
// times as much, and 200 such objects are more than the operator's memory.
const MaxSpecBytes = 256 << 10

// omittedSpec is the annotation of a cached object whose spec was too large to keep. Its value is the number of bytes. No
// API server takes a key with a space, so no stored object has it.
const omittedSpec = "spec bytes"

// OmitLargeSpec removes from an object a spec that is larger than MaxSpecBytes, so that a cache does not hold it. Spec finds
// the object invalid afterwards as before. What remains is what others ask of it: the distribution and the host name.
func OmitLargeSpec(obj *v1alpha2.LlamaStackDistribution) {
	size := SpecBytes(obj)
	if size <= MaxSpecBytes {
		return
	}
	if obj.Annotations == nil {
		obj.Annotations = map[string]string{}
	}
	obj.Annotations[omittedSpec] = strconv.Itoa(size)
	kept := v1alpha2.LlamaStackDistributionSpec{Distribution: obj.Spec.Distribution}
	if networking := obj.Spec.Networking; networking != nil && networking.Expose != nil && len(networking.Expose.Raw) < MaxSpecBytes/64 {
		kept.Networking = &v1alpha2.NetworkingSpec{Expose: networking.Expose}
	}
	obj.Spec = kept
}

// tooLarge refuses a spec of too many bytes. No other rule looks at it.
func tooLarge(obj *v1alpha2.LlamaStackDistribution) field.ErrorList {
	size := SpecBytes(obj)
	if size <= MaxSpecBytes {
		return nil
	}
	return field.ErrorList{field.Invalid(spec(), size, fmt.Sprintf(
		"%d bytes of JSON are more than the %d that a spec may have: put what is long into a ConfigMap, "+
			"and name that in spec.baseConfig, or mount it", size, MaxSpecBytes))}
}

// SpecBytes is the length of a spec as JSON, of a spec that a cache left out too.
func SpecBytes(obj *v1alpha2.LlamaStackDistribution) int {
	if omitted, err := strconv.Atoi(obj.Annotations[omittedSpec]); err == nil {
		return omitted
	}
	data, err := json.Marshal(&obj.Spec)
	if err != nil {
		return 0 // a raw value that is no JSON, which the rules after this one refuse
	}
	return len(data)
}
