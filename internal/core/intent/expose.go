package intent

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

// MaxAnnotations is the maximum number of annotations in networking.expose. The admission policy has the same limit.
const MaxAnnotations = 256

// DecodeExpose reads networking.expose, a boolean or an object (FR-011). The first result reports whether the stack is
// exposed: it is false for an unset field, and true for {}.
func DecodeExpose(written *v1alpha2.Expose, path *field.Path) (bool, v1alpha2.ExposeSpec, field.ErrorList) {
	var spec v1alpha2.ExposeSpec
	if written == nil {
		return false, spec, nil
	}
	value, err := decodeJSON(written.Raw)
	if err != nil {
		return false, spec, field.ErrorList{field.Forbidden(path, "is not valid JSON; correct the syntax of the value")}
	}
	if enabled, ok := value.(bool); ok {
		return enabled, spec, nil
	}
	var errs Errors
	o, ok := newObject(value, path, "true, false, or an object {hostname: <name>, …}", &errs)
	if !ok || !o.atMost(MaxAnnotations, "annotations") {
		return false, spec, field.ErrorList(errs)
	}
	spec = v1alpha2.ExposeSpec{
		Enabled:          o.boolean("enabled"),
		Hostname:         o.text("hostname"),
		IngressClassName: o.text("ingressClassName"),
		Annotations:      o.texts("annotations"),
		TLSSecretName:    o.text("tlsSecretName"),
	}
	o.close()
	return (spec.Enabled == nil || *spec.Enabled) && len(errs) == 0, spec, field.ErrorList(errs)
}
