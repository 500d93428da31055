package validate

import (
	"encoding/json"
	"fmt"
	"strconv"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

// MaxSpecBytes is the maximum size of a spec as JSON. Users must move larger content to a ConfigMap. The API server
// accepts specs of up to six times this size. If the cache held 200 such specs, the operator would run out of memory.
const MaxSpecBytes = 256 << 10

// AnnotationOmittedSpec is the annotation of a cached object whose spec was too large for the cache. Its value is the
// number of bytes. The API server rejects a key with a space, so no stored object has this annotation.
const AnnotationOmittedSpec = "spec bytes"

// OmitLargeSpec removes a spec that is larger than MaxSpecBytes from an object, so that a cache does not store the
// spec. The function Spec still reports the object as invalid afterwards. The distribution and spec.networking.expose,
// which contains the host name, remain, because other stacks need them. If spec.networking.expose has MaxSpecBytes/64
// bytes or more, OmitLargeSpec also removes it.
func OmitLargeSpec(obj *v1alpha2.LlamaStackDistribution) {
	size := SpecBytes(obj)
	if size <= MaxSpecBytes {
		return
	}
	if obj.Annotations == nil {
		obj.Annotations = map[string]string{}
	}
	obj.Annotations[AnnotationOmittedSpec] = strconv.Itoa(size)
	kept := v1alpha2.LlamaStackDistributionSpec{Distribution: obj.Spec.Distribution}
	if networking := obj.Spec.Networking; networking != nil && networking.Expose != nil &&
		len(networking.Expose.Raw) < MaxSpecBytes/64 {
		kept.Networking = &v1alpha2.NetworkingSpec{Expose: networking.Expose}
	}
	obj.Spec = kept
}

// tooLarge rejects a spec that is too large. No other rule is applied to such a spec.
func tooLarge(obj *v1alpha2.LlamaStackDistribution) field.ErrorList {
	size := SpecBytes(obj)
	if size <= MaxSpecBytes {
		return nil
	}
	return field.ErrorList{field.Invalid(spec(), size, LargeSpec(size))}
}

// LargeSpec returns the message about a spec that is too large.
func LargeSpec(size int) string {
	return fmt.Sprintf("%d bytes of JSON exceed the limit of %d for a spec: move long parts to a ConfigMap, "+
		"and refer to the ConfigMap in spec.baseConfig or mount it", size, MaxSpecBytes)
}

// SpecBytes returns the length of a spec as JSON, even if a cache omitted the spec.
func SpecBytes(obj *v1alpha2.LlamaStackDistribution) int {
	if omitted, err := strconv.Atoi(obj.Annotations[AnnotationOmittedSpec]); err == nil {
		return omitted
	}
	data, err := json.Marshal(&obj.Spec)
	if err != nil {
		return 0 // the spec contains a raw value that is not JSON; later rules reject it
	}
	return len(data)
}
