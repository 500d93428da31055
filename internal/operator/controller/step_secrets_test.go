package controller

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

func TestReadSecrets(t *testing.T) {
	const (
		withSecret  = `{distribution: {name: starter}, providers: {inference: {provider: vllm, endpoint: "http://vllm:8000", apiKey: {secretKeyRef: {name: creds, key: token}}}}}`
		withSetting = `{distribution: {name: starter}, secretEnv: {OIDC: {secretKeyRef: {name: creds, key: token}}}, settings: {server: {auth: {provider_config: {type: custom, endpoint: "${env.OIDC}"}}}}}`
		withTLS     = `{distribution: {name: starter}, networking: {tls: {enabled: true, secretName: cert}}}`
		found       = "True " + v1alpha2.ReasonAllSecretsFound + ": Resolved "
	)
	opaque := func(key, value string) *corev1.Secret {
		return &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "creds"},
			Data:       map[string][]byte{key: []byte(value)},
		}
	}
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	pair := func(end time.Time) *corev1.Secret {
		certificate, key := testutil.NewCertificate(t, end)
		return &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "cert"}, Type: corev1.SecretTypeTLS,
			Data: map[string][]byte{corev1.TLSCertKey: certificate, corev1.TLSPrivateKeyKey: key},
		}
	}
	for name, tc := range map[string]secretsCase{
		"a reference in the overrides": {
			spec:      `{distribution: {name: starter}, workload: {overrides: {env: [{name: A, valueFrom: {secretKeyRef: {name: creds, key: token}}}]}}}`,
			condition: "True NoSecretsReferenced: Outside of spec.workload.overrides, whose references the operator does not check, the spec does not refer to any Secret",
		},
		"no reference":  {spec: `{distribution: {name: starter}}`, condition: "True NoSecretsReferenced: The spec does not refer to any Secret"},
		"one reference": {spec: withSecret, secret: opaque("token", "sk-abc"), condition: found + "1 secret reference"},
		"missing Secret": {
			spec: withSecret, reason: v1alpha2.ReasonSecretNotFound,
			message: `Secret "creds" not found in namespace "team". Referenced by: spec.providers.inference.apiKey.secretKeyRef`,
		},
		"missing key": {
			spec: withSecret, secret: opaque("tokn", "sk-abc"), reason: v1alpha2.ReasonSecretKeyMissing,
			message: `Key "token" not found in Secret "creds" in namespace "team". Referenced by: spec.providers.inference.apiKey.secretKeyRef`,
		},
		"number for a credential": {
			spec: withSecret, secret: opaque("token", "981237461"), reason: v1alpha2.ReasonSecretValueUnusable,
			message: `Key "token" of Secret "creds" in namespace "team" looks like a number, so the server converts and then rejects the value; ` +
				`use another value. Referenced by: spec.providers.inference.apiKey.secretKeyRef`,
		},
		"number for a setting that requires text": {
			spec: withSetting, secret: opaque("token", "981237461"), reason: v1alpha2.ReasonSecretValueUnusable,
			message: `Key "token" of Secret "creds" in namespace "team" looks like a number, so the server converts and then rejects the value; ` +
				`use another value. Referenced by: spec.secretEnv[OIDC].secretKeyRef`,
		},
		"certificate": {
			spec: withTLS, secret: pair(now.Add(30 * 24 * time.Hour)), after: 16 * 24 * time.Hour,
			condition: found + "1 secret reference",
		},
		"certificate that expires soon": {
			spec: withTLS, secret: pair(now.Add(time.Hour)), after: time.Hour + time.Second,
			condition: found + `1 secret reference; the certificate in Secret "cert" expires on 2026-03-01. Renew the certificate; the renewal replaces the pods once`,
			events:    []string{"Warning " + v1alpha2.EventCertificateExpires + `: the certificate in Secret "cert" expires on 2026-03-01. Renew the certificate; the renewal replaces the pods once`},
		},
	} {
		t.Run(name, func(t *testing.T) { checkSecrets(t, tc, now) })
	}
}

// secretsCase is a row of TestReadSecrets.
type secretsCase struct {
	spec            string
	secret          *corev1.Secret
	condition       string
	events          []string
	after           time.Duration
	reason, message string
}

// checkSecrets runs the step that reads a stack's Secrets, and compares the result and the report with the test case.
func checkSecrets(t *testing.T, tc secretsCase, now time.Time) {
	f := newFixture(t)
	f.planner.Now = func() time.Time { return now }
	if tc.secret != nil {
		f.createObjects(t, tc.secret.DeepCopy())
	}
	s, err := f.runSteps(t, testutil.NewStack(t, tc.spec), "secrets")
	var want *status.Failure
	if tc.reason != "" {
		want = &status.Failure{
			Condition: v1alpha2.ConditionSecretsResolved, Reason: tc.reason, Message: tc.message,
			Retry: status.OnReferenceChange,
		}
	}
	checkFailure(t, err, want)
	if diff := cmp.Diff(tc.condition, conditionTexts(&s.report)[v1alpha2.ConditionSecretsResolved]); diff != "" {
		t.Errorf("condition (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(tc.events, eventTexts(&s.report)); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if got := s.report.RequeueAfter(now); got != tc.after {
		t.Errorf("requeued after %v, want %v", got, tc.after)
	}
	if found := tc.secret != nil && err == nil; found != (s.secrets.References.Digest != "") {
		t.Errorf("digest %q", s.secrets.References.Digest)
	}
}
