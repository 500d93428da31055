package admission

import (
	"context"
	"reflect"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/validate"
)

// volume returns errors and warnings about an update that requests another volume than the stack has. The claim in the
// cluster counts, because it can differ from the stored spec. If the claim cannot be read, the errors are warnings.
func (v *Validator) volume(ctx context.Context, before, object *stack) (errs, warnings []string) {
	if before == nil || reflect.DeepEqual(storage(before), storage(object)) {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, configPatience)
	defer cancel()
	claim, err := v.options.Claim(ctx, client.ObjectKey{
		Namespace: object.Namespace, Name: names.PersistentVolumeClaim(object.Name),
	})
	switch {
	case err != nil:
		assumed, warnings := validate.VolumeChange(before, object, nil)
		return nil, append(assumed, warnings...)
	case claim == nil:
		return nil, nil // the operator creates it as the updated spec requests
	default:
		return validate.VolumeChange(before, object, claim)
	}
}

func storage(object *stack) *v1alpha2.VolumeSpec {
	if object.Spec.Workload == nil {
		return nil
	}
	return object.Spec.Workload.Storage
}
