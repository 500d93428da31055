package rollout

import "k8s.io/utils/ptr"

// Autoscaled is what becomes of the number of replicas once an autoscaler has had it. The zero value: none had.
type Autoscaled struct {
	// Spec is the number in the spec while the autoscaler had it. As long as it stays in the spec, so does Count.
	Spec int32 `json:"spec"`
	// Count is how many replicas the autoscaler left. Zero: it is still at work.
	Count int32 `json:"count,omitempty"`
}

// keepReplicas keeps the number that an autoscaler left, until the spec asks for another than it did all the time: who
// stops an autoscaler at five replicas did not ask for the one that the API defaults to.
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
