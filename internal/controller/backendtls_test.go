package controller_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operatorconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// validated waits until the policy of a stack has the wanted validation of the server's certificate.
func (b *bench) validated(t *testing.T, name string, want map[string]any) {
	t.Helper()
	eventually(t, func() error {
		policy := exposure(render.BackendTLSPolicyKind)
		if err := b.Get(t.Context(), b.key(name), policy); err != nil {
			return err
		}
		got, _, _ := unstructured.NestedMap(policy.Object, "spec", "validation")
		if diff := cmp.Diff(want, got); diff != "" {
			return fmt.Errorf("validation (-want +got):\n%s", diff)
		}
		return nil
	})
}

// served waits until the API server serves the kind of a policy.
func (b *bench) served(t *testing.T) {
	t.Helper()
	eventually(t, func() error {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(render.BackendTLSPolicyKind.GroupVersion().WithKind("BackendTLSPolicyList"))
		return b.List(t.Context(), list, client.InNamespace(b.namespace))
	})
}

// oldPolicies returns the definition of policies as the Gateway API had it before 1.4, without the version v1, and the
// current definition.
func oldPolicies(t *testing.T) (old, now *unstructured.Unstructured) {
	t.Helper()
	now = gatewayDefinition(t, "backendtlspolicies")
	old = now.DeepCopy()
	versions, _, _ := unstructured.NestedSlice(old.Object, "spec", "versions")
	for _, version := range versions {
		is := version.(map[string]any)["name"] == "v1"
		version.(map[string]any)["served"], version.(map[string]any)["storage"] = !is, !is
	}
	if err := unstructured.SetNestedSlice(old.Object, versions, "spec", "versions"); err != nil {
		t.Fatal(err)
	}
	return old, now
}

// TestBackendTLSPolicy checks that a policy makes a Gateway connect to the server by HTTPS, and that the policy follows
// the Secret, the spec, the operator's ConfigMap and the kinds that the cluster serves.
func TestBackendTLSPolicy(t *testing.T) {
	const (
		version = "backendtls"
		spec    = `{distribution: {name: starter}, networking: {tls: {enabled: true, secretName: llama-tls}, expose: {hostname: llama.example.com}}}`
		plain   = `{distribution: {name: starter}, networking: {expose: {hostname: llama.example.com}}}`
		inside  = `{distribution: {name: starter}, networking: {tls: {enabled: true, secretName: llama-tls}}}`
	)
	b := newBench(t)
	b.everywhere, b.configured = true, true
	old, definition := oldPolicies(t)
	defer b.install(t, gatewayDefinition(t, "httproutes"))()
	defer b.install(t, old)()
	b.start(t, version)
	b.configure(t, operatorconfig.KeyGateway, "{name: public, namespace: gateways}")
	host := "my-service." + b.namespace + ".svc"
	certificate := tlsSecret(t, "llama-tls")
	certificate.Data[corev1.TLSCertKey], certificate.Data[corev1.TLSPrivateKeyKey] = testutil.NewCertificate(t,
		time.Now().Add(90*24*time.Hour), host)
	b.create(t, certificate, b.stack(t, "my", spec))
	route, policy, authorities := exposure(render.HTTPRouteKind), exposure(render.BackendTLSPolicyKind),
		&corev1.ConfigMap{}
	b.appears(t, "my-httproute", route)
	if note := b.told(t, corev1.EventTypeWarning, v1alpha2.EventConfigWarning); !strings.Contains(note, "the cluster does not serve version v1 of that kind") {
		t.Errorf("note %q", note)
	}

	// A definition that gets the version later is used without a restart.
	b.upgrade(t, definition)
	b.served(t)
	b.settled(t, version)
	b.goes(t, "my-backendtlspolicy", policy) // the authority of the certificate is unknown

	// The authority is added to the Secret, and changes.
	known := map[string]any{
		"hostname":          host,
		"caCertificateRefs": []any{map[string]any{"group": "", "kind": "ConfigMap", "name": "my-server-ca"}},
	}
	for _, name := range []string{"first", "second"} {
		authority := testutil.CertificateFor(t, name)
		b.edit(t, certificate, func() { certificate.Data["ca.crt"] = authority })
		b.validated(t, "my-backendtlspolicy", known)
		eventually(t, func() error {
			if err := b.Get(t.Context(), b.key("my-server-ca"), authorities); err != nil {
				return err
			}
			if diff := cmp.Diff(map[string]string{"ca.crt": string(authority)}, authorities.Data); diff != "" {
				return fmt.Errorf("authorities (-want +got):\n%s", diff)
			}
			return nil
		})
	}
	before := b.settled(t, version)
	b.respec(t, "my", strings.Replace(spec, "networking: {", "networking: {allowedFrom: {}, ", 1))
	b.appears(t, "my-network-policy", &networkingv1.NetworkPolicy{})
	for _, call := range writes(b.settled(t, version)[len(before):]) {
		if strings.Contains(call, "backendtlspolicies") || strings.Contains(call, "my-server-ca") {
			t.Errorf("%s, and nothing of it changed", call)
		}
	}

	b.answeredPolicy(t, "False", "NoValidCACertificate", "no certificate in it")
	condition := b.condition(t, "my", v1alpha2.ConditionExposed, v1alpha2.ReasonExposureNotAccepted)
	if want := `BackendTLSPolicy "my-backendtlspolicy" is not accepted, so the Gateway cannot reach the server (NoValidCACertificate): no certificate in it`; condition.Message != want {
		t.Errorf("message %q, want %q", condition.Message, want)
	}
	b.answeredPolicy(t, "True", "Accepted", "fine")
	b.condition(t, "my", v1alpha2.ConditionExposed, v1alpha2.ReasonExposureApplied)

	// The policy is deleted when any of its preconditions ends.
	gone := func() {
		t.Helper()
		b.goes(t, "my-backendtlspolicy", policy)
		b.goes(t, "my-server-ca", authorities)
	}
	comes := func() {
		t.Helper()
		b.respec(t, "my", spec)
		b.validated(t, "my-backendtlspolicy", known)
	}
	for _, without := range []string{plain, inside} {
		b.respec(t, "my", without)
		gone()
		comes()
	}
	b.edit(t, certificate, func() { delete(certificate.Data, "ca.crt") })
	gone()
	b.edit(t, certificate, func() { certificate.Data["ca.crt"] = testutil.CertificateFor(t, "third") })
	comes()
	b.configure(t, operatorconfig.KeyGateway, "")
	gone()
}

// edit updates an object.
func (b *bench) edit(t *testing.T, object client.Object, change func()) {
	t.Helper()
	if err := b.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
		t.Fatal(err)
	}
	change()
	if err := b.Update(t.Context(), object); err != nil {
		t.Fatal(err)
	}
}

// upgrade replaces a definition with another version of it.
func (b *bench) upgrade(t *testing.T, definition *unstructured.Unstructured) {
	t.Helper()
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(definition.GroupVersionKind())
	live.SetName(definition.GetName())
	b.edit(t, live, func() { live.Object["spec"] = definition.Object["spec"] })
}

// answeredPolicy writes the status of a policy as the controller of a Gateway does.
func (b *bench) answeredPolicy(t *testing.T, is, reason, message string) {
	t.Helper()
	policy := exposure(render.BackendTLSPolicyKind)
	policy.SetName("my-backendtlspolicy")
	b.get(t, policy.GetName(), policy)
	answer := map[string]any{
		"controllerName": "example.com/gateways",
		"ancestorRef": map[string]any{
			"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": "public",
			"namespace": "gateways",
		},
		"conditions": []any{map[string]any{
			"type": "Accepted", "status": is, "reason": reason, "message": message, "lastTransitionTime": "2026-01-01T00:00:00Z",
		}},
	}
	if err := unstructured.SetNestedSlice(policy.Object, []any{answer}, "status", "ancestors"); err != nil {
		t.Fatal(err)
	}
	if err := b.Status().Update(context.WithoutCancel(t.Context()), policy); err != nil {
		t.Fatal(err)
	}
}
