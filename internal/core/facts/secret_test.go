package facts

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// TestCheckSecret checks every reason for which the value of a Secret cannot be used.
func TestCheckSecret(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	certificate, key := testutil.NewCertificate(t, now.Add(-time.Hour), "my.example.com")
	serving := &corev1.Secret{Type: corev1.SecretTypeTLS, Data: map[string][]byte{"tls.crt": certificate, "tls.key": key}}
	with := func(value string) *corev1.Secret { return &corev1.Secret{Data: map[string][]byte{"k": []byte(value)}} }
	provider := intent.SecretUse{Secret: "s", Key: "k", EnvVar: "TOKEN", Purpose: intent.PurposeProvider}
	connection := intent.SecretUse{Secret: "s", Key: "k", EnvVar: "URL", Purpose: intent.PurposeConnectionString}
	const unusable = v1alpha2.ReasonSecretValueUnusable
	for name, tc := range map[string]struct {
		use    intent.SecretUse
		secret *corev1.Secret
		want   *Unusable
	}{
		"usable":      {provider, with("t"), nil},
		"no Secret":   {provider, nil, &Unusable{v1alpha2.ReasonSecretNotFound, `Secret "s" not found in namespace "ns"`}},
		"no key":      {provider, &corev1.Secret{}, &Unusable{v1alpha2.ReasonSecretKeyMissing, `Key "k" not found in Secret "s" in namespace "ns"`}},
		"empty":       {provider, with(""), &Unusable{unusable, `Key "k" of Secret "s" in namespace "ns" is empty; set a value`}},
		"number":      {provider, with("1"), &Unusable{unusable, `Key "k" of Secret "s" in namespace "ns" looks like a number, so the server converts and then rejects the value; use another value`}},
		"zero byte":   {connection, with("a\x00"), &Unusable{unusable, `Key "k" of Secret "s" in namespace "ns" contains a zero byte, which an environment variable cannot contain; use another value`}},
		"128 KiB":     {connection, with(strings.Repeat("a", 128<<10)), &Unusable{unusable, `Key "k" of Secret "s" in namespace "ns" is longer than the 131067 bytes that an environment variable can contain; shorten the value`}},
		"certificate": {intent.SecretUse{Secret: "s", Key: "tls.crt", Purpose: intent.PurposeCertificate}, serving, &Unusable{unusable, `Secret "s" in namespace "ns" has a certificate that expired on 2025-12-31; renew the certificate`}},
	} {
		t.Run(name, func(t *testing.T) {
			got := CheckSecret(tc.use, "ns", tc.secret, tc.use.Purpose == intent.PurposeProvider, now)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("problem (-want +got):\n%s", diff)
			}
		})
	}
}
