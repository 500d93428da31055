package intent

import (
	"encoding/json"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// ownProbes reports whether a patch of the pod template has a readiness probe. For an invalid patch, it returns false.
// Package podtemplate reports the errors of such a patch.
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
