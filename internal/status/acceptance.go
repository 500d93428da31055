package status

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
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

// PolicyNotAccepted says why a Gateway does not speak to the server as a
// BackendTLSPolicy says, in the words of the Gateway's controller; empty: it does, or
// nobody has looked at it yet. A policy that has to stand back for an older one of the
// user's for the same Service is no trouble.
func PolicyNotAccepted(policy *unstructured.Unstructured, gateway types.NamespacedName) string {
	given, _, _ := unstructured.NestedMap(policy.Object, "status")
	var said gatewayv1.PolicyStatus
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(given, &said); err != nil {
		return "" // a form that nobody knows tells nothing
	}
	for _, ancestor := range said.Ancestors {
		of := ancestor.AncestorRef
		namespace := policy.GetNamespace()
		if of.Namespace != nil {
			namespace = string(*of.Namespace)
		}
		if (of.Kind == nil || *of.Kind == "Gateway") && (string(of.Name) != gateway.Name || namespace != gateway.Namespace) {
			continue // a route of somebody else leads there
		}
		refused := denial(policy, ancestor.Conditions)
		if refused != nil && refused.Reason != string(gatewayv1.PolicyReasonConflicted) {
			return fmt.Sprintf("%s %q does not let the Gateway reach the server (%s): %s",
				policy.GetKind(), policy.GetName(), refused.Reason, takenOver(refused.Message))
		}
	}
	return ""
}

// denial is the first condition by which a controller of Gateways does not take an
// object as it is now. Nil: it does, or has not said.
func denial(object *unstructured.Unstructured, conditions []metav1.Condition) *metav1.Condition {
	for i := range conditions {
		condition := &conditions[i]
		current := condition.ObservedGeneration == 0 || condition.ObservedGeneration == object.GetGeneration()
		if current && condition.Status == metav1.ConditionFalse && slices.Contains([]string{"Accepted", "ResolvedRefs"}, condition.Type) {
			return condition
		}
	}
	return nil
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
		if first == nil {
			first = denial(object, parent.Conditions)
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
