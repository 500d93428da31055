package rollout_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// testMovedServer checks that clients can reach the old pods while a change of the port and of the protocol does not
// become ready, and the new pods afterward.
func testMovedServer(t *testing.T, b *bench) {
	certificate, key := testutil.NewCertificate(t, time.Now().Add(time.Hour))
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: "server-tls"}, Type: corev1.SecretTypeTLS,
		Data: map[string][]byte{corev1.TLSCertKey: certificate, corev1.TLSPrivateKeyKey: key},
	}
	testutil.Must(t, b.Create(t.Context(), secret))
	serves := func(health, networking string) string {
		return fmt.Sprintf(`{distribution: {name: starter}, networking: {allowedFrom: {namespaces: [a]}, %s}, `+
			`workload: {overrides: {podAnnotations: {%s: %s}}}}`, networking, healthAnnotation, health)
	}
	reached := func(scheme, ports string) {
		t.Helper()
		eventually(t, func() error {
			stack, policy, service := &v1alpha2.LlamaStackDistribution{}, &networkingv1.NetworkPolicy{}, &corev1.Service{}
			b.get(t, "my", stack)
			b.get(t, names.NetworkPolicy("my"), policy)
			b.get(t, names.Service("my"), service)
			var got []string
			for _, port := range policy.Spec.Ingress[0].Ports {
				got = append(got, port.Port.String())
			}
			target := service.Spec.Ports[0].TargetPort.String()
			if strings.Join(got, " ") != ports || target != names.PortName ||
				!strings.HasPrefix(stack.Status.ServiceURL, scheme+"://") {
				return fmt.Errorf("ports %v, target %s and %s, want ports %s and %s", got, target, stack.Status.ServiceURL, ports, scheme)
			}
			return nil
		})
	}
	const next = "port: 8500, tls: {enabled: true, secretName: server-tls}"
	b.apply(t, "my", serves("well", "port: 8400"))
	b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonMinimumReplicasAvailable)
	reached("http", "8400")
	b.apply(t, "my", serves(ill, next))
	b.condition(t, "my", v1alpha2.ConditionAvailable, v1alpha2.ReasonRolloutFailed)
	reached("http", "8400 8500")
	b.apply(t, "my", serves("well", next))
	b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonMinimumReplicasAvailable)
	reached("https", "8500")
}
