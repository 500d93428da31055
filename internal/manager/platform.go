package manager

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// constraints is the kind with which OpenShift assigns the uid, gid and fsGroup of pods. OpenShift rejects pods with
// other values.
var constraints = schema.GroupKind{Group: "security.openshift.io", Kind: "SecurityContextConstraints"}

// openShift reports whether the cluster is OpenShift. The operator calls openShift only once, because the platform does
// not change.
func openShift(mapper meta.RESTMapper) (bool, error) {
	_, err := mapper.RESTMapping(constraints)
	switch {
	case err == nil:
		return true, nil
	case meta.IsNoMatchError(err):
		return false, nil
	default:
		return false, fmt.Errorf("look for %s: %w", constraints, err)
	}
}
