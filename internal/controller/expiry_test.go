package controller_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

const withCertificate = `{distribution: {name: starter}, networking: {tls: {enabled: true, secretName: cert}}}`

// TestCertificateThatEnds checks that a certificate that expires soon causes a warning, and that its expiry is reported
// although nothing in the cluster has changed. The pods stay.
func TestCertificateThatEnds(t *testing.T) {
	const version = "certificate-ends"
	end := time.Now().Add(8 * time.Second)
	b := newBench(t)
	b.create(t, tlsSecretUntil(t, "cert", end))
	b.direct(t, version)
	b.create(t, b.stack(t, "my", withCertificate))
	resolved := b.condition(t, "my", v1alpha2.ConditionSecretsResolved, v1alpha2.ReasonAllSecretsFound)
	want := fmt.Sprintf(`the certificate in Secret "cert" expires on %s; renew it. This replaces the pods once`, end.UTC().Format(time.DateOnly))
	if diff := cmp.Diff("Resolved 1 secret reference; "+want, resolved.Message); diff != "" {
		t.Errorf("message (-want +got):\n%s", diff)
	}
	eventually(t, func() error {
		for _, event := range b.events(t) {
			if event.Reason == v1alpha2.EventCertificateExpires && event.Type == corev1.EventTypeWarning && event.Note == want {
				return nil
			}
		}
		return fmt.Errorf("no event warns of the certificate")
	})
	before, after := &appsv1.Deployment{}, &appsv1.Deployment{}
	b.get(t, "my", before)

	ended := b.condition(t, "my", v1alpha2.ConditionSecretsResolved, v1alpha2.ReasonSecretValueUnusable)
	if want := inNamespace(fmt.Sprintf(`Secret "cert" in namespace "NS" has a certificate that expired on %s. Referenced by: spec.networking.tls.secretName`,
		end.UTC().Format(time.DateOnly)), b.namespace); ended.Message != want {
		t.Errorf("message %q, want %q", ended.Message, want)
	}
	b.condition(t, "my", v1alpha2.ConditionDegraded, v1alpha2.ReasonSecretChangedToInvalid)
	b.get(t, "my", after)
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("the Deployment changed:\n%s", diff)
	}
}
