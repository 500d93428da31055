package intent

import (
	"encoding/json"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// ownProbes reports whether a patch for the pod template contains a readiness probe. It returns false for an invalid
// patch, because package podtemplate reports the errors in the patch.
func ownProbes(change *apiextensionsv1.JSON) bool {
	if change == nil {
		return false
	}
	var template struct {
		Spec struct {
			Containers []struct {
				ReadinessProbe json.RawMessage `json:"readinessProbe"`
			} `json:"containers"`
		} `json:"spec"`
	}
	if json.Unmarshal(change.Raw, &template) != nil {
		return false
	}
	for _, container := range template.Spec.Containers {
		if container.ReadinessProbe != nil {
			return true
		}
	}
	return false
}
