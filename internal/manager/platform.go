package manager

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// constraints is the kind by which OpenShift chooses uid, gid and fsGroup of
// pods; one that asks for its own is refused.
var constraints = schema.GroupKind{Group: "security.openshift.io", Kind: "SecurityContextConstraints"}

// openShift asks once, at start: a cluster does not become another.
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
