package status

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
)

// hostClaimed is the reason that an OpenShift router sets if another Route has the host name. The router's message
// contains the name and namespace of that Route.
const hostClaimed = "HostAlreadyClaimed"

// acceptance is the part of a Route's or an HTTPRoute's status that routers and Gateways write.
type acceptance struct {
	Ingress []struct {
		Host       string             `json:"host"`
		Conditions []metav1.Condition `json:"conditions"`
	} `json:"ingress"`
	Parents []struct {
		Conditions []metav1.Condition `json:"conditions"`
	} `json:"parents"`
}

// statusOf returns the status of an object. A status in an unknown form contains no usable information.
func statusOf[T any](object *unstructured.Unstructured) T {
	given, _, _ := unstructured.NestedMap(object.Object, "status")
	var said T
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(given, &said); err != nil {
		return *new(T)
	}
	return said
}

// PolicyNotAccepted returns a message, with the controller's own explanation, if a Gateway does not apply a
// BackendTLSPolicy to the server. The message is empty if the Gateway applies the policy, or if no controller has
// processed the policy yet. It is also empty if an older policy that a user created for the same Service takes
// precedence.
func PolicyNotAccepted(policy *unstructured.Unstructured, gateway types.NamespacedName) string {
	for _, ancestor := range statusOf[gatewayv1.PolicyStatus](policy).Ancestors {
		of := ancestor.AncestorRef
		namespace := policy.GetNamespace()
		if of.Namespace != nil {
			namespace = string(*of.Namespace)
		}
		if (of.Kind == nil || *of.Kind == "Gateway") && (string(of.Name) != gateway.Name || namespace != gateway.Namespace) {
			continue // a Gateway that does not expose this stack
		}
		refused := denial(policy, ancestor.Conditions)
		if refused != nil && refused.Reason != string(gatewayv1.PolicyReasonConflicted) {
			return fmt.Sprintf("%s %q is not accepted (%s), so the Gateway cannot reach the server: %s",
				policy.GetKind(), policy.GetName(), refused.Reason, takenOver(refused.Message))
		}
	}
	return ""
}

// denial returns the first condition with which a Gateway controller rejects the current version of an object. Nil
// means that the controller accepts the object, or has not processed it yet.
func denial(object *unstructured.Unstructured, conditions []metav1.Condition) *metav1.Condition {
	for i := range conditions {
		condition := &conditions[i]
		current := condition.ObservedGeneration == 0 || condition.ObservedGeneration == object.GetGeneration()
		if current && condition.Status == metav1.ConditionFalse &&
			slices.Contains([]string{"Accepted", "ResolvedRefs"}, condition.Type) {
			return condition
		}
	}
	return nil
}

// NotAccepted returns a message, with the explanation of the router or the Gateway, if a Route or an HTTPRoute does not
// expose the server. The message is empty if the route is accepted, or if no controller has processed it yet. A Route
// is accepted if at least one router admits it.
func NotAccepted(object *unstructured.Unstructured) string {
	said := statusOf[acceptance](object)
	refused := said.refusal(object)
	if refused == nil {
		return ""
	}
	message := takenOver(refused.Message)
	if refused.Reason == hostClaimed {
		message = "another Route already uses the host name; use a different host name"
	}
	return fmt.Sprintf("%s %q does not expose the server (%s): %s", object.GetKind(), object.GetName(), refused.Reason, message)
}

// refusal returns the condition Admitted of the first router that rejects the route. If no router rejects it, refusal
// returns the condition of the first Gateway that does. It returns nil if a router admits the route, or if no router
// and no Gateway rejects it.
func (a *acceptance) refusal(object *unstructured.Unstructured) *metav1.Condition {
	var first *metav1.Condition
	for _, router := range a.Ingress {
		switch admitted := meta.FindStatusCondition(router.Conditions, "Admitted"); {
		case admitted == nil:
		case admitted.Status == metav1.ConditionTrue:
			return nil
		case admitted.Status == metav1.ConditionFalse:
			first = cmp.Or(first, admitted)
		}
	}
	for _, parent := range a.Parents {
		first = cmp.Or(first, denial(object, parent.Conditions))
	}
	return first
}

// AdmittedHost returns the host name with which a router admits a Route, or an empty string. The host name in the spec
// proves nothing, because a user can create the Route with the host name of another stack.
func AdmittedHost(route *unstructured.Unstructured) string {
	for _, router := range statusOf[acceptance](route).Ingress {
		if meta.IsStatusConditionTrue(router.Conditions, "Admitted") {
			return router.Host
		}
	}
	return ""
}
