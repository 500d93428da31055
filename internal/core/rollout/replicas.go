package rollout

import "k8s.io/utils/ptr"

// Autoscaled describes a number of replicas that an autoscaler set. The zero value means that no autoscaler set it.
type Autoscaled struct {
	// Spec is the number of replicas that the spec contained while the autoscaler was active. Count remains in force while
	// the spec contains this number.
	Spec int32 `json:"spec"`
	// Count is the number of replicas that the autoscaler left behind. Zero means that the autoscaler is still active.
	Count int32 `json:"count,omitempty"`
}

// keepReplicas keeps the number of replicas that an autoscaler left behind. The number remains in force until the
// number in the spec changes. A user who stops an autoscaler at five replicas does not ask for the API's default of one
// replica.
func (o observed) keepReplicas() Rendered {
	left, rendered := o.record.Autoscaled, o.rendered
	wanted := rendered.Deployment.Spec.Replicas
	if !o.recorded || wanted == nil || left.Spec != *wanted || left == (Autoscaled{}) {
		return rendered
	}
	if left.Count == 0 {
		left.Count = ptr.Deref(o.live.Spec.Replicas, 1)
	}
	if left.Count == 0 || left.Count == left.Spec {
		return rendered
	}
	rendered.Record.Autoscaled = left
	rendered.Deployment = clone(rendered.Deployment)
	rendered.Deployment.Spec.WithReplicas(left.Count)
	return rendered
}
