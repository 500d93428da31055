package controller_test

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operatorconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// routeURL waits until the status has the external URL of the stack.
func (b *bench) routeURL(t *testing.T, name, want string) {
	t.Helper()
	eventually(t, func() error {
		stack := &v1alpha2.LlamaStackDistribution{}
		if err := b.Get(t.Context(), b.key(name), stack); err != nil {
			return err
		}
		if stack.Status.RouteURL != want {
			return fmt.Errorf("routeURL %q, want %q", stack.Status.RouteURL, want)
		}
		return nil
	})
}

// TestIngress checks that an Ingress is created and deleted with the spec, that annotations of other managers stay, and
// that changes of the operator's ConfigMap are applied.
func TestIngress(t *testing.T) {
	const version = "ingress"
	b := newBench(t)
	b.configured = true
	b.start(t, version)
	ingress := &networkingv1.Ingress{}
	b.create(t, b.stack(t, "my", `{distribution: {name: starter}, networking: {expose: true}}`))
	b.appears(t, "my-ingress", ingress)
	host := b.madeUp("my", names.DefaultDomain)
	if got := ingress.Spec.Rules[0].Host; got != host {
		t.Errorf("host %q, want %q: without a name it would answer for every stack", got, host)
	}
	b.routeURL(t, "my", "http://"+host)
	if note := b.told(t, corev1.EventTypeWarning, v1alpha2.EventConfigWarning); !strings.Contains(note, host) ||
		!strings.Contains(note, "set hostname") {
		t.Errorf("note %q", note)
	}
	annotated := ingress.DeepCopy()
	annotated.Annotations = map[string]string{"cert-manager.io/issuer": "theirs"}
	if err := b.Patch(t.Context(), annotated, client.MergeFrom(ingress)); err != nil {
		t.Fatal(err)
	}
	addressed := annotated.DeepCopy()
	addressed.Status.LoadBalancer.Ingress = []networkingv1.IngressLoadBalancerIngress{{IP: "192.0.2.1"}}
	if err := b.Status().Patch(t.Context(), addressed, client.MergeFrom(annotated)); err != nil {
		t.Fatal(err)
	}
	b.routeURL(t, "my", "http://"+host)

	b.configure(t, operatorconfig.KeyIngress, "{domain: apps.example.com, annotations: {ours: x}}")
	b.routeURL(t, "my", "http://"+b.madeUp("my", "apps.example.com"))
	b.respec(t, "my", `{distribution: {name: starter}, networking: {expose: {hostname: llama.example.com, tlsSecretName: llama-tls}}}`)
	b.routeURL(t, "my", "https://llama.example.com")
	b.get(t, "my-ingress", ingress)
	if ingress.Annotations["cert-manager.io/issuer"] != "theirs" || ingress.Annotations["ours"] != "x" {
		t.Errorf("annotations %v", ingress.Annotations)
	}
	b.respec(t, "my", `{distribution: {name: starter}, networking: {expose: false}}`)
	b.goes(t, "my-ingress", ingress)
	b.routeURL(t, "my", "")
}

// madeUp returns the host name that is generated for a stack in a domain.
func (b *bench) madeUp(stack, domain string) string {
	return names.HostLabel(stack, b.namespace) + "." + domain
}

// TestEarlierHostNames checks that a stack that an earlier operator exposed keeps its host name, or stays without one,
// and so does a stack of v1alpha1. If another stack has a host name of the same form, it keeps it.
func TestEarlierHostNames(t *testing.T) {
	b := newBench(t)
	b.configured = true
	first := b.start(t, "exposing")
	b.create(t, b.stack(t, "my", `{distribution: {name: starter}, networking: {expose: true}}`))
	old := b.stack(t, "old", `{distribution: {name: starter}, networking: {expose: true}}`)
	old.Annotations = map[string]string{names.AnnotationCompat: names.CompatV1Alpha1}
	b.create(t, old)
	ingress := &networkingv1.Ingress{}
	b.appears(t, "my-ingress", ingress)
	b.appears(t, "old-ingress", ingress)
	if host := ingress.Spec.Rules[0].Host; host != "" {
		t.Errorf("a stack of v1alpha1 has host %q", host)
	}
	b.condition(t, "my", v1alpha2.ConditionExposed, v1alpha2.ReasonExposureApplied)
	first.stop(t)
	earlier := func(host string) {
		b.get(t, "my-ingress", ingress)
		before := ingress.DeepCopy()
		ingress.Spec.Rules[0].Host = host
		if err := b.Patch(t.Context(), ingress, client.MergeFrom(before)); err != nil {
			t.Fatal(err)
		}
	}
	for version, tc := range map[string]struct{ domain, host string }{
		"exposed-hostless": {"", ""},
		"exposed-domain":   {"apps.example.com", names.EarlierHostLabel("my", b.namespace) + ".apps.example.com"},
	} {
		earlier(tc.host)
		b.configure(t, operatorconfig.KeyIngress, fmt.Sprintf("{domain: %q}", tc.domain))
		o := b.start(t, version)
		b.condition(t, "my", v1alpha2.ConditionExposed, v1alpha2.ReasonExposureApplied)
		b.settled(t, version)
		o.stop(t)
		if b.get(t, "my-ingress", ingress); ingress.Spec.Rules[0].Host != tc.host {
			t.Errorf("host %q, want %q as before", ingress.Spec.Rules[0].Host, tc.host)
		}
	}
}

// TestExposureOfAConfigThatCannotBeRead checks that an operator that could never read the exposure settings leaves
// existing objects in place.
func TestExposureOfAConfigThatCannotBeRead(t *testing.T) {
	b := newBench(t)
	b.configured = true
	first := b.start(t, "exposure-known")
	b.configure(t, operatorconfig.KeyIngress, "{domain: apps.example.com}")
	b.create(t, b.stack(t, "my", `{distribution: {name: starter}, networking: {expose: true}}`))
	b.routeURL(t, "my", "http://"+b.madeUp("my", "apps.example.com"))
	first.stop(t)
	b.configure(t, operatorconfig.KeyIngress, "domain: [apps.example.com]")
	b.start(t, "exposure-unknown")
	b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
	b.settled(t, "exposure-unknown")
	ingress := &networkingv1.Ingress{}
	b.get(t, "my-ingress", ingress)
	if got := ingress.Spec.Rules[0].Host; got != b.madeUp("my", "apps.example.com") {
		t.Errorf("host %q", got)
	}
}

// gatewayDefinition returns the Gateway API's own definition of a kind, by its plural.
func gatewayDefinition(t *testing.T, plural string) *unstructured.Unstructured {
	t.Helper()
	folder, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}",
		"sigs.k8s.io/gateway-api").Output()
	if err != nil {
		t.Fatal(err)
	}
	objects, err := testutil.ReadObjects(filepath.Join(strings.TrimSpace(string(folder)), "config/crd/standard/gateway.networking.k8s.io_"+plural+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return objects[0]
}

// routeDefinition returns a definition that accepts any Route, because the real Route API is not a
// CustomResourceDefinition.
func routeDefinition() client.Object {
	definition := &apiextensionsv1.CustomResourceDefinition{}
	definition.Name = "routes.route.openshift.io"
	definition.Spec = apiextensionsv1.CustomResourceDefinitionSpec{
		Group: "route.openshift.io", Scope: apiextensionsv1.NamespaceScoped,
		Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "routes", Kind: "Route", ListKind: "RouteList"},
		Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
			Name: "v1", Served: true, Storage: true, Schema: &apiextensionsv1.CustomResourceValidation{
				OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: new(true)},
			},
		}},
	}
	return definition
}

// install adds a definition for the duration of the test.
func (b *bench) install(t *testing.T, definition client.Object) (uninstall func()) {
	t.Helper()
	if err := b.Create(t.Context(), definition); err != nil {
		t.Fatal(err)
	}
	uninstall = func() {
		if err := b.Delete(t.Context(), definition); client.IgnoreNotFound(err) != nil {
			t.Error(err)
		}
		eventually(t, func() error {
			if err := b.Get(t.Context(), client.ObjectKeyFromObject(definition), definition); err == nil {
				return fmt.Errorf("%s is still there", definition.GetName())
			}
			return nil
		})
	}
	return uninstall
}

func exposure(kind schema.GroupVersionKind) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind)
	return object
}

// answered writes the status of an exposing object as a router or a Gateway does.
func (b *bench) answered(t *testing.T, route *unstructured.Unstructured, by, condition, is, reason, message string) {
	t.Helper()
	b.get(t, route.GetName(), route)
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
	if err := unstructured.SetNestedSlice(route.Object, []any{answer}, "status", by); err != nil {
		t.Fatal(err)
	}
	write := b.Status().Update
	if route.GroupVersionKind() == render.RouteKind { // its definition here has no status subresource
		write = func(ctx context.Context, object client.Object, _ ...client.SubResourceUpdateOption) error {
			return b.Update(ctx, object)
		}
	}
	if err := write(t.Context(), route); err != nil {
		t.Fatal(err)
	}
}

// TestHTTPRouteIsInstalledLater checks that a kind that is installed after the operator is used within a minute,
// without a restart, and that the status reports the missing kind when it is removed.
func TestHTTPRouteIsInstalledLater(t *testing.T) {
	const version = "httproute"
	b := newBench(t)
	b.everywhere, b.configured = true, true
	b.start(t, version)
	b.configure(t, operatorconfig.KeyGateway, "{name: public, namespace: gateways}")
	b.configure(t, operatorconfig.KeyIngress, "{domain: apps.example.com}")
	b.create(t, b.stack(t, "my", `{distribution: {name: starter}, networking: {expose: {}}}`))
	missing := func() {
		t.Helper()
		condition := b.condition(t, "my", v1alpha2.ConditionExposed, v1alpha2.ReasonExposureUnavailable)
		if want := "spec.networking.expose: the server is not exposed: the cluster does not serve HTTPRoute of gateway.networking.k8s.io yet"; condition.Message != want {
			t.Errorf("message %q, want %q", condition.Message, want)
		}
	}
	missing()
	uninstall := b.install(t, gatewayDefinition(t, "httproutes"))
	began := time.Now()
	b.routeURL(t, "my", "https://"+b.madeUp("my", "apps.example.com"))
	if took := time.Since(began); took > time.Minute {
		t.Errorf("it took %v", took)
	}
	route := exposure(render.HTTPRouteKind)
	b.get(t, "my-httproute", route)
	b.settled(t, version)
	b.answered(t, route, "parents", "Accepted", "False", "NoMatchingListenerHostname", "no listener has this host name")
	condition := b.condition(t, "my", v1alpha2.ConditionExposed, v1alpha2.ReasonExposureNotAccepted)
	if want := `HTTPRoute "my-httproute" does not expose the server (NoMatchingListenerHostname): no listener has this host name`; condition.Message != want {
		t.Errorf("message %q, want %q", condition.Message, want)
	}
	b.answered(t, route, "parents", "Accepted", "True", "Accepted", "fine")
	b.condition(t, "my", v1alpha2.ConditionExposed, v1alpha2.ReasonExposureApplied)
	seen := b.settled(t, version)

	b.respec(t, "my", `{distribution: {name: starter}, networking: {expose: {}, allowedFrom: {}}}`)
	b.appears(t, "my-network-policy", &networkingv1.NetworkPolicy{})
	for _, call := range writes(b.settled(t, version)[len(seen):]) {
		if strings.Contains(call, "httproutes") {
			t.Errorf("%s, and nothing of it changed", call)
		}
	}
	b.respec(t, "my", `{distribution: {name: starter}}`)
	b.goes(t, "my-httproute", route)
	b.respec(t, "my", `{distribution: {name: starter}, networking: {expose: true}}`)
	b.appears(t, "my-httproute", route)
	uninstall()
	missing()
	b.routeURL(t, "my", "")

	uninstall = b.install(t, gatewayDefinition(t, "httproutes"))
	b.routeURL(t, "my", "https://"+b.madeUp("my", "apps.example.com"))
	uninstall()
}

// TestRoute checks that a Route replaces the Ingress on OpenShift.
func TestRoute(t *testing.T) {
	const version = "route"
	b := newBench(t)
	uninstall := b.install(t, routeDefinition())
	defer uninstall()
	eventually(t, func() error {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(render.RouteKind.GroupVersion().WithKind("RouteList"))
		return b.List(t.Context(), list, client.InNamespace(b.namespace))
	})
	operator := b.start(t, version)
	b.create(t, b.stack(t, "my", `{distribution: {name: starter}, networking: {expose: {hostname: llama.example.com}}}`))
	route := exposure(render.RouteKind)
	b.appears(t, "my-route", route)
	b.routeURL(t, "my", "https://llama.example.com")
	b.goes(t, "my-ingress", &networkingv1.Ingress{})
	b.settled(t, version)
	b.answered(t, route, "ingress", "Admitted", "False", "HostAlreadyClaimed", "route theirs already exposes llama.example.com and is older")
	condition := b.condition(t, "my", v1alpha2.ConditionExposed, v1alpha2.ReasonExposureNotAccepted)
	if want := `Route "my-route" does not expose the server (HostAlreadyClaimed): another Route already has the host name`; condition.Message != want {
		t.Errorf("message %q, want %q", condition.Message, want)
	}
	b.answered(t, route, "ingress", "Admitted", "True", "", "")
	b.condition(t, "my", v1alpha2.ConditionExposed, v1alpha2.ReasonExposureApplied)
	b.settled(t, version)
	operator.stop(t)

	again := b.start(t, "route-again")
	b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
	for _, call := range writes(b.settled(t, "route-again")) {
		if strings.Contains(call, "routes") {
			t.Errorf("%s after a restart", call)
		}
	}
	b.respec(t, "my", `{distribution: {name: starter}}`)
	b.goes(t, "my-route", route)
	again.stop(t)
}

// TestHostnameOfTwo checks that a host name belongs to one stack: the stack that uses it keeps it, and a waiting stack
// gets it when it is free. The status reveals nothing about another namespace.
func TestHostnameOfTwo(t *testing.T) {
	const spec = `{distribution: {name: starter}, networking: {expose: {hostname: %s}}}`
	b, other := newBench(t), newBench(t)
	b.everywhere = true
	host := "llama." + b.namespace + ".example.com"
	b.start(t, "hostname")
	wanted := fmt.Sprintf(spec, host)
	elsewhere := fmt.Sprintf(spec, "other."+host)
	b.create(t, b.stack(t, "older", elsewhere), b.stack(t, "my", wanted))
	b.routeURL(t, "my", "http://"+host)

	other.create(t, other.stack(t, "my", wanted))
	condition := other.condition(t, "my", v1alpha2.ConditionExposed, v1alpha2.ReasonHostnameTaken)
	if want := fmt.Sprintf("spec.networking.expose: host name %q is taken by a stack in another namespace, so the server is not exposed; use another host name", host); condition.Message != want {
		t.Errorf("message %q, want %q", condition.Message, want)
	}
	// An older stack that requests the host name later does not take it over.
	b.routeURL(t, "older", "http://other."+host)
	b.respec(t, "older", wanted)
	condition = b.condition(t, "older", v1alpha2.ConditionExposed, v1alpha2.ReasonHostnameTaken)
	if want := fmt.Sprintf("spec.networking.expose: host name %q is taken by stack \"my\", so the server is not exposed; use another host name", host); condition.Message != want {
		t.Errorf("message %q, want %q", condition.Message, want)
	}
	b.goes(t, "older-ingress", &networkingv1.Ingress{})
	b.routeURL(t, "my", "http://"+host)

	b.respec(t, "older", elsewhere)
	b.routeURL(t, "older", "http://other."+host)
	if err := b.Delete(t.Context(), b.stack(t, "my", wanted)); err != nil {
		t.Fatal(err)
	}
	other.routeURL(t, "my", "http://"+host)
	other.condition(t, "my", v1alpha2.ConditionExposed, v1alpha2.ReasonExposureApplied)
}

// TestHostnameOfTheDomain checks that a host name that is generated in the cluster's domain conflicts with the same
// name in a spec, in either order.
func TestHostnameOfTheDomain(t *testing.T) {
	b := newBench(t)
	b.configured = true
	b.start(t, "domain")
	b.configure(t, operatorconfig.KeyIngress, "{domain: apps.example.com}")
	spec := func(stack string) string {
		return fmt.Sprintf(`{distribution: {name: starter}, networking: {expose: {hostname: %s}}}`, b.madeUp(stack, "apps.example.com"))
	}
	const byDomain = `{distribution: {name: starter}, networking: {expose: true}}`
	url := func(stack string) string { return "http://" + b.madeUp(stack, "apps.example.com") }
	for _, tc := range []struct{ first, firstSpec, second, secondSpec, of string }{
		{"a", byDomain, "says-a", spec("a"), "a"},
		{"says-b", spec("b"), "b", byDomain, "b"},
	} {
		first := b.stack(t, tc.first, tc.firstSpec)
		b.create(t, first)
		b.routeURL(t, tc.first, url(tc.of))
		b.create(t, b.stack(t, tc.second, tc.secondSpec))
		b.condition(t, tc.second, v1alpha2.ConditionExposed, v1alpha2.ReasonHostnameTaken)
		if err := b.Delete(t.Context(), first); err != nil {
			t.Fatal(err)
		}
		b.routeURL(t, tc.second, url(tc.of))
	}
}
