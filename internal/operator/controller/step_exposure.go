package controller

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/apply"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/planning"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/report"
)

// checkExposure adds a condition if the stack is exposed. It returns a failure if the spec requests an exposure and the
// stack is not exposed. The message does not contain names of objects in other namespaces.
func checkExposure(stack *stack, made *planning.Planned, objects []apply.Applied, report *report.Report) error {
	failure := &status.Failure{Condition: v1alpha2.ConditionExposed, Retry: status.OnReferenceChange}
	switch owner, built := made.HostOwner, made.Plan; {
	case owner != nil:
		failure.Reason, failure.Message = v1alpha2.ReasonHostnameTaken, owner.Message(stack)
		if owner.Host == "" { // no event shows that the object without a host name was deleted
			failure.Retry = status.Later
		}
	case !built.Exposure.Empty() && !built.ExposureServed:
		failure.Reason = v1alpha2.ReasonExposureUnavailable
		failure.Message = fmt.Sprintf("spec.networking.expose: the server is not exposed: the cluster does not serve %s of %s yet; ask an administrator to install the CustomResourceDefinition for this kind, and to restart the operator if it is limited to some namespaces",
			built.Exposure.Kind, built.Exposure.Group)
	case made.Input.Cluster.ExposureUnknown:
		keepExposed(stack, report)
		return nil
	default:
		live := liveOf(built.Exposure, objects)
		if live == nil {
			return nil
		}
		failure.Reason, failure.Message = v1alpha2.ReasonExposureNotAccepted, status.NotAccepted(live)
		policy, gateway := liveOf(render.BackendTLSPolicyKind, objects), made.Input.Cluster.Gateway
		if failure.Message == "" && policy != nil && gateway != nil {
			failure.Message = status.PolicyNotAccepted(policy,
				types.NamespacedName{Namespace: gateway.Namespace, Name: gateway.Name})
		}
		if failure.Message == "" {
			report.MarkTrue(v1alpha2.ConditionExposed, v1alpha2.ReasonExposureApplied,
				fmt.Sprintf("%s %q is applied", live.GetKind(), live.GetName()))
			return nil
		}
	}
	return failure
}

// keepExposed keeps the previous condition of an exposed stack if the exposure settings are unknown, because the
// operator's ConfigMap cannot be read. In this case, the objects that expose the stack do not change.
func keepExposed(stack *stack, report *report.Report) {
	before := meta.FindStatusCondition(stack.Status.Conditions, v1alpha2.ConditionExposed)
	if networking := stack.Spec.Networking; networking == nil || networking.Expose == nil ||
		string(networking.Expose.Raw) == "false" {
		return
	}
	if before != nil && before.Status == metav1.ConditionTrue {
		report.MarkTrue(v1alpha2.ConditionExposed, before.Reason, before.Message)
	}
}

// liveOf returns the current state of the stack's only object of a kind. Nil means that it was not applied.
func liveOf(kind schema.GroupVersionKind, objects []apply.Applied) *unstructured.Unstructured {
	i := slices.IndexFunc(objects, func(a apply.Applied) bool { return a.Kind == kind })
	if i < 0 {
		return nil
	}
	live, err := objects[i].Content()
	if err != nil {
		return nil // cannot happen: objects of Kubernetes kinds can be converted
	}
	return live
}

// routeURL returns the external URL of the server, or an empty string if it is unknown. The function mayHave reports
// whether a stack may have the host name that a router chose. A user who may write the status of a Route could
// otherwise take the host name of another stack, which keeps a host name as long as its URL shows it.
func routeURL(built *plan.Plan, objects []apply.Applied, mayHave func(host string) bool) string {
	found := liveOf(built.Exposure, objects)
	if found == nil {
		return ""
	}
	live := found.Object
	host, scheme := built.Hostname, "http"
	switch built.Exposure {
	case render.RouteKind:
		scheme = "https"
		if host == "" {
			host = status.AdmittedHost(found)
			if host != "" && !mayHave(host) {
				return ""
			}
		}
	case render.HTTPRouteKind:
		if host == "" {
			return "" // the Gateway's listeners determine the host name
		}
		scheme = "https"
	default:
		if tls, _, _ := unstructured.NestedSlice(live, "spec", "tls"); len(tls) > 0 {
			scheme = "https"
		}
		if host == "" {
			host = loadBalancer(live)
		}
	}
	if host == "" {
		return ""
	}
	return scheme + "://" + host
}

// loadBalancer returns the address that an ingress controller assigned.
func loadBalancer(ingress map[string]any) string {
	points, _, _ := unstructured.NestedSlice(ingress, "status", "loadBalancer", "ingress")
	for _, point := range points {
		fields, _ := point.(map[string]any)
		for _, name := range []string{"hostname", "ip"} {
			if address, _ := fields[name].(string); address != "" {
				return address
			}
		}
	}
	return ""
}
