package planning

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/report"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// TestExpiring checks that a stack is requeued for the time when the warning is due, and for the expiry of the
// certificate.
func TestExpiring(t *testing.T) {
	end := time.Date(2026, 3, 31, 12, 0, 0, 0, time.UTC)
	certificate, key := testutil.NewCertificate(t, end)
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "cert"}, Type: corev1.SecretTypeTLS,
		Data: map[string][]byte{corev1.TLSCertKey: certificate, corev1.TLSPrivateKeyKey: key},
	}
	const warning = `; the certificate in Secret "cert" expires on 2026-03-31. Renew the certificate; the renewal replaces the pods once`
	for name, tc := range map[string]struct {
		before  time.Duration
		told    string
		after   time.Duration
		message string
		events  int
	}{
		"more than two weeks before the expiry": {before: 15 * 24 * time.Hour, after: 24 * time.Hour},
		"two weeks before the expiry": {
			before: 14 * 24 * time.Hour, after: 14*24*time.Hour + time.Second, message: warning,
			events: 1,
		},
		"already reported": {
			before: time.Hour, told: "Resolved 1 secret reference" + warning,
			after: time.Hour + time.Second, message: warning,
		},
		"in the last second": {before: 0, after: time.Second, message: warning, events: 1},
	} {
		t.Run(name, func(t *testing.T) {
			now := end.Add(-tc.before)
			use := intent.SecretUse{Secret: "cert", Key: corev1.TLSCertKey, Path: "spec", Purpose: intent.PurposeCertificate}
			reader := fake.NewClientBuilder().WithObjects(secret).Build()
			values, err := resolve.Secrets(t.Context(), reader,
				resolve.SecretQuery{
					Namespace: "ns", Cache: reader, Uses: []intent.SecretUse{use}, Now: now,
					Text: func(string) bool { return false },
				})
			testutil.Must(t, err)
			object := &v1alpha2.LlamaStackDistribution{}
			object.Status.Conditions = []metav1.Condition{{Type: v1alpha2.ConditionSecretsResolved, Message: tc.told}}
			report := &report.Report{}
			p := New(Options{Now: func() time.Time { return now }})
			if got := p.expiring(object, values, report); got != tc.message {
				t.Errorf("message %q, want %q", got, tc.message)
			}
			if got := report.RequeueAfter(now); got != tc.after {
				t.Errorf("requeued after %v, want %v", got, tc.after)
			}
			if len(report.Events) != tc.events {
				t.Errorf("events %v, want %d", report.Events, tc.events)
			}
		})
	}
	p, none := New(Options{Now: time.Now}), &report.Report{}
	if p.expiring(&stack{}, resolve.Values{}, none) != "" || none.RequeueAfter(end) != 0 {
		t.Error("a stack without a certificate is requeued")
	}
}
