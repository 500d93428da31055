package admission

import (
	"context"
	"errors"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/volume"
)

// volume returns errors and warnings about an update that requests another volume than the stack has. The claim in the
// cluster counts, because it can differ from the stored spec. If the claim cannot be read, the errors are warnings.
func (v *Validator) volume(ctx context.Context, before, object *stack) (errs, warnings []string) {
	if before == nil || reflect.DeepEqual(volume.Spec(before), volume.Spec(object)) {
		return nil, nil
	}
	claim, err := v.claim(ctx, object)
	switch {
	case err != nil:
		assumed, warnings := volume.Change(before, object, nil)
		return nil, append(assumed, warnings...)
	case claim == nil:
		return nil, nil // the operator creates it as the updated spec requests
	default:
		return volume.Change(before, object, claim)
	}
}

var errNoNamespace = errors.New("the namespace does not exist, or there are too many requests")

// claim reads the claim of a stack. It waits for its turn, and for the API server, only for a short time.
func (v *Validator) claim(ctx context.Context, object *stack) (*corev1.PersistentVolumeClaim, error) {
	if !v.exists(ctx, object.Namespace) {
		return nil, errNoNamespace
	}
	ctx, cancel := context.WithTimeout(ctx, configPatience)
	defer cancel()
	done, err := v.claims.Take(ctx, object.Namespace)
	if err != nil {
		return nil, err
	}
	defer done()
	return v.options.Claim(ctx, client.ObjectKey{
		Namespace: object.Namespace, Name: names.PersistentVolumeClaim(object.Name),
	})
}
