package status

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// hostClaimed is what an OpenShift router says of a host name that another Route
// has, whose name and namespace are in its message.
const hostClaimed = "HostAlreadyClaimed"

// acceptance is what routers and Gateways write into the status of a Route and of an
// HTTPRoute.
type acceptance struct {
	Ingress []struct {
		Conditions []metav1.Condition `json:"conditions"`
	} `json:"ingress"`
	Parents []struct {
		Conditions []metav1.Condition `json:"conditions"`
	} `json:"parents"`
}

// NotAccepted says why a Route or an HTTPRoute exposes nothing, in the words of the
// router or the Gateway; empty: it does, or nobody has looked at it yet. A Route is
// exposed by any router that admits it.
func NotAccepted(object *unstructured.Unstructured) string {
	given, _, _ := unstructured.NestedMap(object.Object, "status")
	var said acceptance
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(given, &said); err != nil {
		return "" // a form that nobody knows tells nothing
	}
	var first *metav1.Condition
	for _, router := range said.Ingress {
		i := slices.IndexFunc(router.Conditions, func(c metav1.Condition) bool { return c.Type == "Admitted" })
		if i >= 0 && router.Conditions[i].Status == metav1.ConditionTrue {
			return ""
		}
		if i >= 0 && first == nil {
			first = &router.Conditions[i]
		}
	}
	for _, parent := range said.Parents {
		for i := range parent.Conditions {
			condition := &parent.Conditions[i]
			current := condition.ObservedGeneration == 0 || condition.ObservedGeneration == object.GetGeneration()
			if current && first == nil && slices.Contains([]string{"Accepted", "ResolvedRefs"}, condition.Type) && condition.Status == metav1.ConditionFalse {
				first = condition
			}
		}
	}
	if first == nil || first.Status != metav1.ConditionFalse {
		return ""
	}
	message := takenOver(first.Message)
	if first.Reason == hostClaimed {
		message = "another Route has its host name"
	}
	return fmt.Sprintf("%s %q does not expose the server (%s): %s", object.GetKind(), object.GetName(), first.Reason, message)
}
