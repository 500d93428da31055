package controller

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/resolve"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// A stack is looked at again when the warning is due, and when the certificate ends.
func TestExpiring(t *testing.T) {
	end := time.Date(2026, 3, 31, 12, 0, 0, 0, time.UTC)
	certificate, key := testutil.NewCertificate(t, end)
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "cert"}, Type: corev1.SecretTypeTLS,
		Data: map[string][]byte{corev1.TLSCertKey: certificate, corev1.TLSPrivateKeyKey: key},
	}
	const warning = `; the certificate in Secret "cert" expires on 2026-03-31: renew it, the pods are then replaced once`
	for name, tc := range map[string]struct {
		before  time.Duration
		told    string
		after   time.Duration
		message string
		events  int
	}{
		"long before":         {before: 15 * 24 * time.Hour, after: 24 * time.Hour},
		"from two weeks on":   {before: 14 * 24 * time.Hour, after: 14*24*time.Hour + time.Second, message: warning, events: 1},
		"told before":         {before: time.Hour, told: "Resolved 1 secret reference" + warning, after: time.Hour + time.Second, message: warning},
		"in its last moments": {before: 0, after: time.Second, message: warning, events: 1},
	} {
		t.Run(name, func(t *testing.T) {
			now := end.Add(-tc.before)
			use := intent.SecretUse{Secret: "cert", Key: corev1.TLSCertKey, Path: "spec", Purpose: intent.PurposeCertificate}
			reader := fake.NewClientBuilder().WithObjects(secret).Build()
			values, err := resolve.Secrets(t.Context(), reader, resolve.SecretQuery{Namespace: "ns", Cache: reader, Uses: []intent.SecretUse{use}, Now: now})
			if err != nil {
				t.Fatal(err)
			}
			object := &v1alpha2.LlamaStackDistribution{}
			object.Status.Conditions = []metav1.Condition{{Type: v1alpha2.ConditionSecretsResolved, Message: tc.told}}
			report := &report{}
			r := &Reconciler{now: func() time.Time { return now }}
			if got := r.expiring(object, values, report); got != tc.message {
				t.Errorf("message %q, want %q", got, tc.message)
			}
			if got := report.requeueAfter(now); got != tc.after {
				t.Errorf("looked at again after %v, want %v", got, tc.after)
			}
			if len(report.events) != tc.events {
				t.Errorf("events %v, want %d", report.events, tc.events)
			}
		})
	}
	r, none := &Reconciler{now: time.Now}, &report{}
	if r.expiring(&stack{}, resolve.Values{}, none) != "" || none.requeueAfter(end) != 0 {
		t.Error("a stack without certificate is looked at again")
	}
}
