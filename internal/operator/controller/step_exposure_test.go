package controller

import (
	"fmt"
	"slices"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/apply"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/hostname"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/planning"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/report"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// ingressKind is the kind Ingress.
var ingressKind = networkingv1.SchemeGroupVersion.WithKind("Ingress")

// appliedExposure returns an applied object of a kind.
func appliedExposure(kind schema.GroupVersionKind, name string, content map[string]any) []apply.Applied {
	object := &unstructured.Unstructured{Object: content}
	object.SetGroupVersionKind(kind)
	object.SetName(name)
	return []apply.Applied{{Kind: kind, Object: object}}
}

// routeStatus returns the status that a Gateway writes to a route.
func routeStatus(accepted, reason, message string) map[string]any {
	return map[string]any{"status": map[string]any{"parents": []any{map[string]any{
		"controllerName": "example.com/gateways", "parentRef": map[string]any{"name": "public", "namespace": "gateways"},
		"conditions": []any{map[string]any{"type": "Accepted", "status": accepted, "reason": reason, "message": message}},
	}}}}
}

func TestCheckExposure(t *testing.T) {
	failure := func(reason, message string) *status.Failure {
		return &status.Failure{
			Condition: v1alpha2.ConditionExposed, Reason: reason, Message: message,
			Retry: status.OnReferenceChange,
		}
	}
	applied := func(kind, name string) string {
		return fmt.Sprintf("True %s: %s %q is applied", v1alpha2.ReasonExposureApplied, kind, name)
	}
	taken := func(by string) *status.Failure {
		return failure(v1alpha2.ReasonHostnameTaken,
			`spec.networking.expose: host name "llama.example.com" is taken by `+by+", so the server is not exposed; use another host name")
	}
	byGateway, public := plan.Plan{Exposure: render.HTTPRouteKind, ExposureServed: true},
		&render.Gateway{Name: "public", Namespace: "gateways"}
	route := appliedExposure(render.HTTPRouteKind, "my-httproute", routeStatus("True", "Accepted", "fine"))
	policy := func(accepted, reason, message string) []apply.Applied {
		return appliedExposure(render.BackendTLSPolicyKind, "my-backendtlspolicy",
			map[string]any{"status": map[string]any{"ancestors": []any{map[string]any{
				"ancestorRef": map[string]any{"name": "public", "namespace": "gateways"},
				"conditions":  []any{map[string]any{"type": "Accepted", "status": accepted, "reason": reason, "message": message}},
			}}}})
	}
	for name, tc := range map[string]struct {
		plan    plan.Plan
		gateway *render.Gateway
		owner   *hostname.Owner
		objects []apply.Applied
		failure *status.Failure
		exposed string
	}{
		"not exposed": {},
		"host name taken in the namespace": {
			owner:   &hostname.Owner{Host: "llama.example.com", Namespace: "team", Name: "other"},
			failure: taken(`stack "other"`),
		},
		"host name taken in another namespace": {
			owner:   &hostname.Owner{Host: "llama.example.com", Namespace: "theirs", Name: "other"},
			failure: taken("a stack in another namespace"),
		},
		"kind not served":                               {plan: plan.Plan{Exposure: render.HTTPRouteKind}, failure: failure(v1alpha2.ReasonExposureUnavailable, "spec.networking.expose: the server is not exposed: the cluster does not serve HTTPRoute of gateway.networking.k8s.io yet; ask an administrator to install the CustomResourceDefinition for this kind, and to restart the operator if it is limited to some namespaces")},
		"Ingress applied":                               {plan: plan.Plan{Exposure: ingressKind, ExposureServed: true}, objects: appliedExposure(ingressKind, "my-ingress", map[string]any{}), exposed: applied("Ingress", "my-ingress")},
		"Ingress rejected by the API server":            {plan: plan.Plan{Exposure: ingressKind, ExposureServed: true}},
		"HTTPRoute without a status":                    {plan: plan.Plan{Exposure: render.HTTPRouteKind, ExposureServed: true}, objects: appliedExposure(render.HTTPRouteKind, "my-httproute", map[string]any{}), exposed: applied("HTTPRoute", "my-httproute")},
		"HTTPRoute accepted":                            {plan: plan.Plan{Exposure: render.HTTPRouteKind, ExposureServed: true}, objects: appliedExposure(render.HTTPRouteKind, "my-httproute", routeStatus("True", "Accepted", "fine")), exposed: applied("HTTPRoute", "my-httproute")},
		"HTTPRoute not accepted":                        {plan: plan.Plan{Exposure: render.HTTPRouteKind, ExposureServed: true}, objects: appliedExposure(render.HTTPRouteKind, "my-httproute", routeStatus("False", "NoMatchingListenerHostname", "no listener has this host name")), failure: failure(v1alpha2.ReasonExposureNotAccepted, `HTTPRoute "my-httproute" does not expose the server (NoMatchingListenerHostname): no listener has this host name`)},
		"HTTPRoute not accepted, exposed by an Ingress": {plan: plan.Plan{Exposure: ingressKind, ExposureServed: true}, objects: appliedExposure(render.HTTPRouteKind, "my-httproute", routeStatus("False", "No", "no"))},
		"BackendTLSPolicy not accepted": {
			plan: byGateway, gateway: public, objects: slices.Concat(route,
				policy("False", "NoValidCACertificate", "no certificate")),
			failure: failure(v1alpha2.ReasonExposureNotAccepted, `BackendTLSPolicy "my-backendtlspolicy" is not accepted (NoValidCACertificate), so the Gateway cannot reach the server: no certificate`),
		},
		"BackendTLSPolicy accepted": {plan: byGateway, gateway: public, objects: slices.Concat(route, policy("True", "Accepted", "fine")), exposed: applied("HTTPRoute", "my-httproute")},
		"HTTPRoute and BackendTLSPolicy not accepted": {
			plan: byGateway, gateway: public,
			objects: slices.Concat(appliedExposure(render.HTTPRouteKind, "my-httproute", routeStatus("False", "No", "no")),
				policy("False", "NoValidCACertificate", "no")),
			failure: failure(v1alpha2.ReasonExposureNotAccepted, `HTTPRoute "my-httproute" does not expose the server (No): no`),
		},
	} {
		t.Run(name, func(t *testing.T) {
			var report report.Report
			made := &planning.Planned{
				Plan: &tc.plan, HostOwner: tc.owner,
				Input: plan.Input{Cluster: render.Cluster{Gateway: tc.gateway}},
			}
			err := checkExposure(testutil.NewStack(t, `{distribution: {name: starter}}`), made, tc.objects, &report)
			checkFailure(t, err, tc.failure)
			if got := conditionTexts(&report)[v1alpha2.ConditionExposed]; got != tc.exposed {
				t.Errorf("condition %q, want %q", got, tc.exposed)
			}
		})
	}
}

func TestRouteURL(t *testing.T) {
	mayHave := func(host string) bool { return host != "their.example.com" }
	address := func(field string) map[string]any {
		ingress := []any{map[string]any{field: "192.0.2.1"}}
		return map[string]any{"status": map[string]any{"loadBalancer": map[string]any{"ingress": ingress}}}
	}
	route := func(admitted, host string) map[string]any {
		conditions := []any{map[string]any{"type": "Admitted", "status": admitted}}
		routers := []any{map[string]any{"host": host, "conditions": conditions}}
		return map[string]any{"spec": map[string]any{"host": host}, "status": map[string]any{"ingress": routers}}
	}
	for name, tc := range map[string]struct {
		kind    schema.GroupVersionKind
		host    string
		content map[string]any
		want    string
	}{
		"Ingress": {ingressKind, "llama.example.com", map[string]any{}, "http://llama.example.com"},
		"Ingress with a certificate": {
			ingressKind, "llama.example.com",
			map[string]any{"spec": map[string]any{"tls": []any{map[string]any{}}}},
			"https://llama.example.com",
		},
		"Ingress without a host":                        {ingressKind, "", map[string]any{}, ""},
		"Ingress with the IP of a load balancer":        {ingressKind, "", address("ip"), "http://192.0.2.1"},
		"Ingress with the host name of a load balancer": {ingressKind, "", address("hostname"), "http://192.0.2.1"},
		"Route": {render.RouteKind, "llama.example.com", map[string]any{}, "https://llama.example.com"},
		"Route with a host from the cluster": {
			render.RouteKind, "", route("True", "my.apps.example.com"), "https://my.apps.example.com",
		},
		"Route with a host that is not its own": {render.RouteKind, "", route("False", "my.apps.example.com"), ""},
		"Route with the host of another stack":  {render.RouteKind, "", route("True", "their.example.com"), ""},
		"Route without a host yet":              {render.RouteKind, "", map[string]any{}, ""},
		"HTTPRoute":                             {render.HTTPRouteKind, "llama.example.com", map[string]any{}, "https://llama.example.com"},
		"HTTPRoute without a host":              {render.HTTPRouteKind, "", map[string]any{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := routeURL(&plan.Plan{Exposure: tc.kind, Hostname: tc.host},
				appliedExposure(tc.kind, "my", tc.content), mayHave); got != tc.want {
				t.Errorf("URL %q, want %q", got, tc.want)
			}
		})
	}
	if got := routeURL(&plan.Plan{Exposure: ingressKind, Hostname: "llama.example.com"}, nil, mayHave); got != "" {
		t.Errorf("URL %q without an object", got)
	}
}

// TestUnknownExposureSettings checks that the condition of an exposed stack is kept while the exposure settings are
// unknown.
func TestUnknownExposureSettings(t *testing.T) {
	for spec, want := range map[string]string{
		`{distribution: {name: starter}, networking: {expose: true}}`:  `True ExposureApplied: Ingress "my-ingress" is applied`,
		`{distribution: {name: starter}, networking: {expose: false}}`: "",
		`{distribution: {name: starter}}`:                              "",
	} {
		stack := testutil.NewStack(t, spec)
		meta.SetStatusCondition(&stack.Status.Conditions, metav1.Condition{
			Type: v1alpha2.ConditionExposed, Status: metav1.ConditionTrue, Reason: v1alpha2.ReasonExposureApplied,
			Message: `Ingress "my-ingress" is applied`,
		})
		var report report.Report
		made := &planning.Planned{Plan: &plan.Plan{}, Input: plan.Input{Cluster: render.Cluster{ExposureUnknown: true}}}
		checkFailure(t, checkExposure(stack, made, nil, &report), nil)
		if got := conditionTexts(&report)[v1alpha2.ConditionExposed]; got != want {
			t.Errorf("%s: condition %q, want %q", spec, got, want)
		}
	}
}
