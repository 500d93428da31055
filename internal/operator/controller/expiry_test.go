package controller_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/controllertest"
)

// certificateSpec is the spec of a stack whose server uses the certificate in the Secret cert.
const certificateSpec = `{distribution: {name: starter}, networking: {tls: {enabled: true, secretName: cert}}}`

// TestCertificateExpires checks that a certificate that expires soon causes a warning, and that its expiry is reported
// although no object in the cluster has changed. It also checks that the Deployment does not change.
func TestCertificateExpires(t *testing.T) {
	const version = "certificate-ends"
	end := time.Now().Add(8 * time.Second)
	env := controllertest.NewEnvironment(t)
	env.Create(t, controllertest.NewTLSSecretUntil(t, "cert", end))
	env.StartReconciler(t, version)
	env.Create(t, env.NewStack(t, "my", certificateSpec))
	resolved := env.WaitForCondition(t, "my", v1alpha2.ConditionSecretsResolved, v1alpha2.ReasonAllSecretsFound)
	want := fmt.Sprintf(`the certificate in Secret "cert" expires on %s. Renew the certificate; the renewal replaces the pods once`, end.UTC().Format(time.DateOnly))
	if diff := cmp.Diff("Resolved 1 secret reference; "+want, resolved.Message); diff != "" {
		t.Errorf("message (-want +got):\n%s", diff)
	}
	controllertest.WaitUntil(t, func() error {
		for _, event := range env.ListEvents(t) {
			if event.Reason == v1alpha2.EventCertificateExpires && event.Type == corev1.EventTypeWarning && event.Note == want {
				return nil
			}
		}
		return fmt.Errorf("there is no warning event about the certificate")
	})
	before, after := &appsv1.Deployment{}, &appsv1.Deployment{}
	env.Get(t, "my", before)

	ended := env.WaitForCondition(t, "my", v1alpha2.ConditionSecretsResolved, v1alpha2.ReasonSecretValueUnusable)
	if want := controllertest.InNamespace(fmt.Sprintf(`Secret "cert" in namespace "NS" has a certificate that expired on %s; renew the certificate. Referenced by: spec.networking.tls.secretName`,
		end.UTC().Format(time.DateOnly)), env.Namespace); ended.Message != want {
		t.Errorf("message %q, want %q", ended.Message, want)
	}
	env.WaitForCondition(t, "my", v1alpha2.ConditionDegraded, v1alpha2.ReasonSecretChangedToInvalid)
	env.Get(t, "my", after)
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("the Deployment changed:\n%s", diff)
	}
}
