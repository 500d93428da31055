package controller_test

import (
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
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/operatorconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/controllertest"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// waitForValidation waits until the BackendTLSPolicy has this validation of the server's certificate.
func waitForValidation(t *testing.T, env *controllertest.Environment, name string, want map[string]any) {
	t.Helper()
	controllertest.WaitUntil(t, func() error {
		policy := controllertest.NewUnstructured(render.BackendTLSPolicyKind)
		if err := env.Client.Get(t.Context(), env.Key(name), policy); err != nil {
			return err
		}
		got, _, _ := unstructured.NestedMap(policy.Object, "spec", "validation")
		if diff := cmp.Diff(want, got); diff != "" {
			return fmt.Errorf("validation (-want +got):\n%s", diff)
		}
		return nil
	})
}

// policyDefinitions returns two definitions of BackendTLSPolicy: the current definition, and an older definition. Like
// the definitions in Gateway API releases before 1.4, the older definition does not serve v1.
func policyDefinitions(t *testing.T) (old, now *unstructured.Unstructured) {
	t.Helper()
	now = controllertest.GatewayDefinition(t, "backendtlspolicies")
	old = now.DeepCopy()
	versions, _, _ := unstructured.NestedSlice(old.Object, "spec", "versions")
	for _, version := range versions {
		is := version.(map[string]any)["name"] == "v1"
		version.(map[string]any)["served"], version.(map[string]any)["storage"] = !is, !is
	}
	testutil.Must(t, unstructured.SetNestedSlice(old.Object, versions, "spec", "versions"))
	return old, now
}

// TestRunningBackendTLSPolicy checks that there is a BackendTLSPolicy for HTTPS connections from a Gateway to the
// server, and that it changes with the Secret, the spec, the operator's ConfigMap and the kinds that the cluster
// serves.
func TestRunningBackendTLSPolicy(t *testing.T) {
	const (
		version = "backendtls"
		spec    = `{distribution: {name: starter}, networking: {tls: {enabled: true, secretName: llama-tls}, expose: {hostname: llama.example.com}}}`
		plain   = `{distribution: {name: starter}, networking: {expose: {hostname: llama.example.com}}}`
		inside  = `{distribution: {name: starter}, networking: {tls: {enabled: true, secretName: llama-tls}}}`
	)
	env := controllertest.NewEnvironment(t)
	env.AllNamespaces, env.OwnOperatorConfig = true, true
	old, definition := policyDefinitions(t)
	defer env.InstallDefinition(t, controllertest.GatewayDefinition(t, "httproutes"))()
	defer env.InstallDefinition(t, old)()
	env.StartOperator(t, version)
	env.SetOperatorConfig(t, operatorconfig.KeyGateway, "{name: public, namespace: gateways}")
	host := "my-service." + env.Namespace + ".svc"
	certificate := controllertest.NewTLSSecret(t, "llama-tls")
	certificate.Data[corev1.TLSCertKey], certificate.Data[corev1.TLSPrivateKeyKey] = testutil.NewCertificate(t,
		time.Now().Add(90*24*time.Hour), host)
	env.Create(t, certificate, env.NewStack(t, "my", spec))
	route := controllertest.NewUnstructured(render.HTTPRouteKind)
	policy := controllertest.NewUnstructured(render.BackendTLSPolicyKind)
	authorities := &corev1.ConfigMap{}
	env.WaitForChild(t, "my-httproute", route)
	if note := env.WaitForEvent(t, corev1.EventTypeWarning, v1alpha2.EventConfigWarning); !strings.Contains(note, "the cluster does not serve version v1 of BackendTLSPolicy") {
		t.Errorf("note %q", note)
	}

	// The operator uses a version that is added to a definition later, without a restart.
	updateDefinition(t, env, definition)
	env.WaitForBackendTLSPolicyKind(t)
	env.WaitUntilIdle(t, version)
	env.WaitForNoChild(t, "my-backendtlspolicy", policy) // the Secret does not contain the certificate authority yet

	// The certificate authority is added to the Secret and then changes.
	known := map[string]any{
		"hostname":          host,
		"caCertificateRefs": []any{map[string]any{"group": "", "kind": "ConfigMap", "name": "my-server-ca"}},
	}
	for _, name := range []string{"first", "second"} {
		authority := testutil.CertificateFor(t, name)
		updateObject(t, env, certificate, func() { certificate.Data["ca.crt"] = authority })
		waitForValidation(t, env, "my-backendtlspolicy", known)
		waitForAuthority(t, env, authority)
	}
	before := env.WaitUntilIdle(t, version)
	env.UpdateSpec(t, "my", strings.Replace(spec, "networking: {", "networking: {allowedFrom: {}, ", 1))
	env.WaitForChild(t, "my-network-policy", &networkingv1.NetworkPolicy{})
	for _, call := range controllertest.ListWrites(env.WaitUntilIdle(t, version)[len(before):]) {
		if strings.Contains(call, "backendtlspolicies") || strings.Contains(call, "my-server-ca") {
			t.Errorf("call %s although the object has not changed", call)
		}
	}

	// The policy is deleted when one of its preconditions is no longer met.
	gone := func() {
		t.Helper()
		env.WaitForNoChild(t, "my-backendtlspolicy", policy)
		env.WaitForNoChild(t, "my-server-ca", authorities)
	}
	comes := func() {
		t.Helper()
		env.UpdateSpec(t, "my", spec)
		waitForValidation(t, env, "my-backendtlspolicy", known)
	}
	for _, without := range []string{plain, inside} {
		env.UpdateSpec(t, "my", without)
		gone()
		comes()
	}
	updateObject(t, env, certificate, func() { delete(certificate.Data, "ca.crt") })
	gone()
	updateObject(t, env, certificate, func() { certificate.Data["ca.crt"] = testutil.CertificateFor(t, "third") })
	comes()
	env.SetOperatorConfig(t, operatorconfig.KeyGateway, "")
	gone()
}

// waitForAuthority waits until the ConfigMap that Gateways read contains only the authority.
func waitForAuthority(t *testing.T, env *controllertest.Environment, authority []byte) {
	t.Helper()
	shown := &corev1.ConfigMap{}
	controllertest.WaitUntil(t, func() error {
		if err := env.Client.Get(t.Context(), env.Key("my-server-ca"), shown); err != nil {
			return err
		}
		if diff := cmp.Diff(map[string]string{"ca.crt": string(authority)}, shown.Data); diff != "" {
			return fmt.Errorf("authorities (-want +got):\n%s", diff)
		}
		return nil
	})
}

// updateObject reads an object, changes it and updates it.
func updateObject(t *testing.T, env *controllertest.Environment, object client.Object, change func()) {
	t.Helper()
	testutil.Must(t, env.Client.Get(t.Context(), client.ObjectKeyFromObject(object), object))
	change()
	env.Update(t, object)
}

// updateDefinition replaces the spec of a definition.
func updateDefinition(t *testing.T, env *controllertest.Environment, definition *unstructured.Unstructured) {
	t.Helper()
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(definition.GroupVersionKind())
	live.SetName(definition.GetName())
	updateObject(t, env, live, func() { live.Object["spec"] = definition.Object["spec"] })
}
