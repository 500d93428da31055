package controller_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	networkingv1 "k8s.io/api/networking/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/operatorconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/controllertest"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// generatedHost returns the host name that the operator generates for a stack in a domain.
func generatedHost(env *controllertest.Environment, stack, domain string) string {
	return names.HostLabel(stack, env.Namespace) + "." + domain
}

// newDefinition returns a definition that accepts any object of a kind, for kinds whose definitions OpenShift has.
func newDefinition(kind schema.GroupVersionKind, plural string, scope apiextensionsv1.ResourceScope) client.Object {
	definition := &apiextensionsv1.CustomResourceDefinition{}
	definition.Name = plural + "." + kind.Group
	definition.Annotations = map[string]string{"api-approved.kubernetes.io": "https://github.com/openshift/api"}
	definition.Spec = apiextensionsv1.CustomResourceDefinitionSpec{
		Group: kind.Group, Scope: scope,
		Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: plural, Kind: kind.Kind, ListKind: kind.Kind + "List"},
		Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
			Name: kind.Version, Served: true, Storage: true, Schema: &apiextensionsv1.CustomResourceValidation{
				OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: new(true)},
			},
		}},
	}
	return definition
}

// setRouteStatus writes the status of a Route or an HTTPRoute, as a router or a Gateway does.
func setRouteStatus(
	t *testing.T, env *controllertest.Environment, route *unstructured.Unstructured,
	by, condition, is, reason, message string,
) {
	t.Helper()
	env.Get(t, route.GetName(), route)
	answer := map[string]any{
		"controllerName": "example.com/gateways", "routerName": "default",
		"parentRef": map[string]any{
			"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": "public",
			"namespace": "gateways",
		},
		"conditions": []any{map[string]any{
			"type": condition, "status": is, "reason": reason, "message": message, "lastTransitionTime": "2026-01-01T00:00:00Z",
		}},
	}
	if host, found, _ := unstructured.NestedString(route.Object, "spec", "host"); found {
		answer["host"] = host
	}
	testutil.Must(t, unstructured.SetNestedSlice(route.Object, []any{answer}, "status", by))
	write := env.Client.Status().Update
	if route.GroupVersionKind() == render.RouteKind { // the definition in this test has no status subresource
		write = func(ctx context.Context, object client.Object, _ ...client.SubResourceUpdateOption) error {
			return env.Client.Update(ctx, object)
		}
	}
	testutil.Must(t, write(t.Context(), route))
}

// TestRunningHTTPRouteIsInstalledLater checks that the operator uses a kind within a minute after it is installed,
// without a restart, and that the status reports a kind that was removed.
func TestRunningHTTPRouteIsInstalledLater(t *testing.T) {
	const version = "httproute"
	env := controllertest.NewEnvironment(t)
	env.AllNamespaces, env.OwnOperatorConfig = true, true
	env.StartOperator(t, version)
	env.SetOperatorConfig(t, operatorconfig.KeyGateway, "{name: public, namespace: gateways}")
	env.SetOperatorConfig(t, operatorconfig.KeyIngress, "{domain: apps.example.com}")
	env.Create(t, env.NewStack(t, "my", `{distribution: {name: starter}, networking: {expose: {}}}`))
	missing := func() {
		t.Helper()
		condition := env.WaitForCondition(t, "my", v1alpha2.ConditionExposed, v1alpha2.ReasonExposureUnavailable)
		if want := "spec.networking.expose: the server is not exposed: the cluster does not serve HTTPRoute of gateway.networking.k8s.io yet; ask an administrator to install the CustomResourceDefinition for this kind, and to restart the operator if it is limited to some namespaces"; condition.Message != want {
			t.Errorf("message %q, want %q", condition.Message, want)
		}
	}
	missing()
	uninstall := env.InstallDefinition(t, controllertest.GatewayDefinition(t, "httproutes"))
	began := time.Now()
	env.WaitForRouteURL(t, "my", "https://"+generatedHost(env, "my", "apps.example.com"))
	if took := time.Since(began); took > time.Minute {
		t.Errorf("the stack was exposed after %v, want at most a minute", took)
	}
	route := controllertest.NewUnstructured(render.HTTPRouteKind)
	env.Get(t, "my-httproute", route)
	env.WaitUntilIdle(t, version)
	setRouteStatus(t, env, route, "parents", "Accepted", "False", "NoMatchingListenerHostname",
		"no listener has this host name")
	condition := env.WaitForCondition(t, "my", v1alpha2.ConditionExposed, v1alpha2.ReasonExposureNotAccepted)
	if want := `HTTPRoute "my-httproute" does not expose the server (NoMatchingListenerHostname): no listener has this host name`; condition.Message != want {
		t.Errorf("message %q, want %q", condition.Message, want)
	}
	setRouteStatus(t, env, route, "parents", "Accepted", "True", "Accepted", "fine")
	env.WaitForCondition(t, "my", v1alpha2.ConditionExposed, v1alpha2.ReasonExposureApplied)
	seen := env.WaitUntilIdle(t, version)

	env.UpdateSpec(t, "my", `{distribution: {name: starter}, networking: {expose: {}, allowedFrom: {}}}`)
	env.WaitForChild(t, "my-network-policy", &networkingv1.NetworkPolicy{})
	for _, call := range controllertest.ListWrites(env.WaitUntilIdle(t, version)[len(seen):]) {
		if strings.Contains(call, "httproutes") {
			t.Errorf("call %s although the object has not changed", call)
		}
	}
	uninstall()
	missing()
	env.WaitForRouteURL(t, "my", "")
}

// TestRunningRoute checks that a Route replaces the Ingress on OpenShift. It also checks that a stack keeps its host
// name if the status of an older stack's Route shows that host name: the role admin on OpenShift may write this status.
func TestRunningRoute(t *testing.T) {
	const version = "route"
	env := controllertest.NewEnvironment(t)
	uninstall := env.InstallDefinition(t, newDefinition(render.RouteKind, "routes", apiextensionsv1.NamespaceScoped))
	defer uninstall()
	controllertest.WaitUntil(t, func() error {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(render.RouteKind.GroupVersion().WithKind("RouteList"))
		return env.Client.List(t.Context(), list, client.InNamespace(env.Namespace))
	})
	operator := env.StartOperator(t, version)
	forged := controllertest.NewUnstructured(render.RouteKind)
	env.Create(t, env.NewStack(t, "attacker", `{distribution: {name: starter}, networking: {expose: true}}`))
	env.WaitForChild(t, "attacker-route", forged)
	env.Create(t, env.NewStack(t, "my", `{distribution: {name: starter}, networking: {expose: {hostname: llama.example.com}}}`))
	route := controllertest.NewUnstructured(render.RouteKind)
	env.WaitForChild(t, "my-route", route)
	env.WaitForRouteURL(t, "my", "https://llama.example.com")
	for _, host := range []string{"llama.example.com", "own.example.com"} {
		env.Get(t, "attacker-route", forged)
		forged.Object["spec"].(map[string]any)["host"] = host
		env.Update(t, forged)
		setRouteStatus(t, env, forged, "ingress", "Admitted", "True", "", "")
		env.WaitUntilIdle(t, version)
		attacker := &v1alpha2.LlamaStackDistribution{}
		if env.Get(t, "attacker", attacker); attacker.Status.RouteURL == "https://llama.example.com" {
			t.Error("the status of a Route gives the host name of another stack to its own stack")
		}
	}
	env.WaitForRouteURL(t, "attacker", "https://own.example.com")
	env.WaitForRouteURL(t, "my", "https://llama.example.com")
	env.WaitForNoChild(t, "my-ingress", &networkingv1.Ingress{})
	env.WaitUntilIdle(t, version)
	operator.Stop(t)

	again := env.StartOperator(t, "route-again")
	env.WaitForCondition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
	for _, call := range controllertest.ListWrites(env.WaitUntilIdle(t, "route-again")) {
		if strings.Contains(call, "routes") {
			t.Errorf("call %s after a restart", call)
		}
	}
	env.UpdateSpec(t, "my", `{distribution: {name: starter}}`)
	env.WaitForNoChild(t, "my-route", route)
	again.Stop(t)
}

// TestRunningHostnameOfTwoStacks checks that only one stack is exposed with a host name. A waiting stack receives the
// host name when the other stack no longer uses it. The status reveals nothing about another namespace.
func TestRunningHostnameOfTwoStacks(t *testing.T) {
	const spec = `{distribution: {name: starter}, networking: {expose: {hostname: %s}}}`
	env, other := controllertest.NewEnvironment(t), controllertest.NewEnvironment(t)
	env.AllNamespaces = true
	host := "llama." + env.Namespace + ".example.com"
	env.StartOperator(t, "hostname")
	wanted := fmt.Sprintf(spec, host)
	elsewhere := fmt.Sprintf(spec, "other."+host)
	env.Create(t, env.NewStack(t, "older", elsewhere), env.NewStack(t, "my", wanted))
	env.WaitForRouteURL(t, "my", "http://"+host)

	other.Create(t, other.NewStack(t, "my", wanted))
	condition := other.WaitForCondition(t, "my", v1alpha2.ConditionExposed, v1alpha2.ReasonHostnameTaken)
	if want := fmt.Sprintf("spec.networking.expose: host name %q is taken by a stack in another namespace, so the server is not exposed; use another host name", host); condition.Message != want {
		t.Errorf("message %q, want %q", condition.Message, want)
	}
	// An older stack that requests the host name later does not get it.
	env.WaitForRouteURL(t, "older", "http://other."+host)
	env.UpdateSpec(t, "older", wanted)
	condition = env.WaitForCondition(t, "older", v1alpha2.ConditionExposed, v1alpha2.ReasonHostnameTaken)
	if want := fmt.Sprintf("spec.networking.expose: host name %q is taken by stack \"my\", so the server is not exposed; use another host name", host); condition.Message != want {
		t.Errorf("message %q, want %q", condition.Message, want)
	}
	env.WaitForNoChild(t, "older-ingress", &networkingv1.Ingress{})
	env.WaitForRouteURL(t, "my", "http://"+host)

	env.UpdateSpec(t, "older", elsewhere)
	env.WaitForRouteURL(t, "older", "http://other."+host)
	env.Delete(t, env.NewStack(t, "my", wanted))
	other.WaitForRouteURL(t, "my", "http://"+host)
	other.WaitForCondition(t, "my", v1alpha2.ConditionExposed, v1alpha2.ReasonExposureApplied)
}
