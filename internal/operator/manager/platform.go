package manager

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/facts"
)

// openShift reports whether the cluster is OpenShift. The operator calls openShift only once, because the platform does
// not change.
func openShift(mapper meta.RESTMapper) (bool, error) {
	_, err := mapper.RESTMapping(facts.Constraints.GroupKind())
	switch {
	case err == nil:
		return true, nil
	case meta.IsNoMatchError(err):
		return false, nil
	default:
		return false, fmt.Errorf("look for %s: %w", facts.Constraints.GroupKind(), err)
	}
}
