package controller_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

// replace replaces a Secret with another of the same name, because the type of a Secret is immutable.
func (b *bench) replace(t *testing.T, secret *corev1.Secret) {
	t.Helper()
	if err := b.Delete(t.Context(), &corev1.Secret{ObjectMeta: objectMeta(b.namespace, secret.Name)}); err != nil {
		t.Fatal(err)
	}
	b.create(t, secret)
}

// TestBadCertificateOfARunningStack checks that a certificate that becomes invalid while the stack runs is reported in
// one sentence, and that the pods keep the certificate that they started with.
func TestBadCertificateOfARunningStack(t *testing.T) {
	const spec = `{distribution: {name: starter}, networking: {tls: {enabled: true, secretName: cert}}}`
	opaque := tlsSecret(t, "cert")
	opaque.Type = corev1.SecretTypeOpaque
	ended := time.Now().Add(-36 * time.Hour)
	for _, tc := range []struct {
		name, message string
		bad           *corev1.Secret
	}{
		{"another type", `has the type "Opaque", but a certificate must have the type kubernetes.io/tls`, opaque},
		{"another's key", "has a certificate and a key that do not belong together", brokenPair(t, "cert")},
		{"expired", "has a certificate that expired on " + ended.UTC().Format(time.DateOnly), tlsSecretUntil(t, "cert", ended)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			const version = "bad-certificate"
			b := newBench(t)
			good := tlsSecret(t, "cert")
			b.create(t, good.DeepCopy())
			b.direct(t, version)
			b.create(t, b.stack(t, "my", spec))
			b.condition(t, "my", ready, v1alpha2.ReasonRolloutInProgress)
			b.rollOut(t, "my")
			b.condition(t, "my", ready, v1alpha2.ReasonMinimumReplicasAvailable)
			b.settled(t, version)
			before, after := &appsv1.Deployment{}, &appsv1.Deployment{}
			b.get(t, "my", before)

			b.replace(t, tc.bad)
			want := inNamespace(`Secret "cert" in namespace "NS" `+tc.message+". Referenced by: spec.networking.tls.secretName", b.namespace)
			eventually(t, func() error {
				return b.says(t, "my", v1alpha2.ConditionSecretsResolved, v1alpha2.ReasonSecretValueUnusable, want)
			})
			b.condition(t, "my", v1alpha2.ConditionDegraded, v1alpha2.ReasonSecretChangedToInvalid)
			if err := b.says(t, "my", available, v1alpha2.ReasonMinimumReplicasAvailable, "1/1 replicas available with current config"); err != nil {
				t.Error(err)
			}
			b.replace(t, good)
			b.condition(t, "my", ready, v1alpha2.ReasonMinimumReplicasAvailable)
			b.settled(t, version)
			b.get(t, "my", after)
			if diff := cmp.Diff(before, after); diff != "" {
				t.Errorf("the Deployment changed:\n%s", diff)
			}
		})
	}
}

// TestHostnameThatIsNone checks that an invalid host name is reported in one sentence, and that the running pods and
// the objects that expose them stay as they are.
func TestHostnameThatIsNone(t *testing.T) {
	const version = "no-hostname"
	const spec = `{distribution: {name: starter}, networking: {expose: {hostname: %q}}}`
	b := newBench(t)
	b.direct(t, version)
	good := b.namespace + ".example.com"
	b.create(t, b.stack(t, "my", fmt.Sprintf(spec, good)))
	b.routeURL(t, "my", "http://"+good)
	before, after := &appsv1.Deployment{}, &appsv1.Deployment{}
	b.settled(t, version)
	b.get(t, "my", before)
	for _, tc := range []struct{ hostname, message string }{
		{"https://llama.example.com", `"https://llama.example.com" is not a host name: write one like llama.example.com, without scheme, port and path`},
		{"llama_stack.example.com", `"llama_stack.example.com" is not a host name: write one like llama.example.com, without scheme, port and path`},
		{"192.0.2.1", `"192.0.2.1" is an IP address: write a host name like llama.example.com`},
	} {
		b.respec(t, "my", fmt.Sprintf(spec, tc.hostname))
		b.condition(t, "my", v1alpha2.ConditionStalled, v1alpha2.ReasonInvalidSpec)
		if err := b.says(t, "my", v1alpha2.ConditionValidationSucceeded, v1alpha2.ReasonInvalidSpec, "spec.networking.expose.hostname: "+tc.message); err != nil {
			t.Error(err)
		}
		b.routeURL(t, "my", "http://"+good)
	}
	ingress := &networkingv1.Ingress{}
	b.get(t, "my-ingress", ingress)
	b.get(t, "my", after)
	if before.ResourceVersion != after.ResourceVersion || ingress.Spec.Rules[0].Host != good {
		t.Errorf("the Deployment was written to, or the Ingress: host %q", ingress.Spec.Rules[0].Host)
	}
}
