package resolve_test

import (
	"bytes"
	"encoding/pem"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

func certificateUses() []intent.SecretUse {
	use := func(key string) intent.SecretUse {
		return intent.SecretUse{
			Secret: "tls", Key: key, Path: "spec.networking.tls.secretName",
			Purpose: intent.PurposeCertificate,
		}
	}
	return []intent.SecretUse{use("tls.crt"), use("tls.key")}
}

func resolveCertificate(
	t *testing.T, kind corev1.SecretType, data map[string][]byte, key resolve.DigestKey,
) (resolve.Values, error) {
	t.Helper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "tls"}, Type: kind, Data: data}
	q := query(always, certificateUses()...)
	q.Key = key
	return resolve.Secrets(t.Context(), newWorld(secret), q)
}

// certificateCase is a case of TestCertificates.
type certificateCase struct {
	kind   corev1.SecretType
	data   map[string][]byte
	reason string
	want   string
}

// TestCertificates checks that the operator rejects a Secret without a usable certificate for HTTPS, and that the
// message does not show the Secret's content.
func TestCertificates(t *testing.T) {
	now := query(always).Now
	certificate, key := testutil.NewCertificate(t, now.Add(time.Hour))
	otherCertificate, otherKey := testutil.NewCertificate(t, now.Add(time.Hour))
	expired, expiredKey := testutil.NewCertificate(t, now.Add(-36*time.Hour))
	block := func(kind, content string) []byte {
		return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: []byte(content)})
	}
	pair := func(certificate, key []byte) map[string][]byte {
		return map[string][]byte{"tls.crt": certificate, "tls.key": key}
	}
	for name, tc := range map[string]certificateCase{
		"a pair":                        {data: pair(certificate, key)},
		"a chain":                       {data: pair(bytes.Join([][]byte{certificate, otherCertificate}, nil), key)},
		"a key after its EC parameters": {data: pair(certificate, append(block("EC PARAMETERS", "x"), key...))},
		"another type of Secret": {
			corev1.SecretTypeOpaque, pair(certificate, key), v1alpha2.ReasonSecretValueUnusable,
			`Secret "tls" in namespace "ns" has the type "Opaque"; create the Secret again with the type kubernetes.io/tls`,
		},
		"a long key, which would take minutes": {
			"", pair(certificate, append(block("XPRIVATE KEY", "x"), block("RSA PRIVATE KEY", strings.Repeat("x", 11<<10))...)),
			v1alpha2.ReasonSecretValueUnusable,
			`Secret "tls" in namespace "ns" has a private key of more than 10240 bytes under tls.key; use a shorter key`,
		},
		"no key": {
			"",
			map[string][]byte{"tls.crt": certificate},
			v1alpha2.ReasonSecretKeyMissing,
			`Key "tls.key" not found in Secret "tls" in namespace "ns"`,
		},
		"an empty certificate": {
			"", pair(nil, key), v1alpha2.ReasonSecretValueUnusable, `Key "tls.crt" of Secret "tls" in namespace "ns" is empty; set a value`,
		},
		"a certificate that is not PEM": {
			"", pair([]byte("canary"), key), v1alpha2.ReasonSecretValueUnusable,
			`Secret "tls" in namespace "ns" has no certificate in PEM format under tls.crt; store the certificate in PEM format`,
		},
		"a PEM certificate with invalid content": {
			"", pair(block("CERTIFICATE", "canary"), key), v1alpha2.ReasonSecretValueUnusable,
			`Secret "tls" in namespace "ns" has an invalid certificate under tls.crt; replace the certificate`,
		},
		"a key that is not PEM": {
			"", pair(certificate, []byte("canary")), v1alpha2.ReasonSecretValueUnusable,
			`Secret "tls" in namespace "ns" has no private key in PEM format under tls.key; store the private key in PEM format`,
		},
		"a PEM key with invalid content": {
			"", pair(certificate, block("PRIVATE KEY", "canary")), v1alpha2.ReasonSecretValueUnusable,
			`Secret "tls" in namespace "ns" has an invalid private key under tls.key; replace the private key`,
		},
		"a key with a passphrase": {
			"", pair(certificate, block("ENCRYPTED PRIVATE KEY", "canary")), v1alpha2.ReasonSecretValueUnusable,
			`Secret "tls" in namespace "ns" has a private key with a passphrase under tls.key; store the private key without the passphrase`,
		},
		"the certificate and the key swapped": {
			"", pair(key, certificate), v1alpha2.ReasonSecretValueUnusable,
			`Secret "tls" in namespace "ns" has no certificate in PEM format under tls.crt; store the certificate in PEM format`,
		},
		"the key of another certificate": {
			"", pair(certificate, otherKey), v1alpha2.ReasonSecretValueUnusable,
			`Secret "tls" in namespace "ns" has a certificate and a key that do not match; ` +
				`create the Secret again from a certificate and its private key`,
		},
		"expired": {
			"", pair(expired, expiredKey), v1alpha2.ReasonSecretValueUnusable,
			`Secret "tls" in namespace "ns" has a certificate that expired on 2025-12-30; renew the certificate`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			tc.check(t)
		})
	}
}

func (tc certificateCase) check(t *testing.T) {
	t.Helper()
	if tc.kind == "" {
		tc.kind = corev1.SecretTypeTLS
	}
	_, err := resolveCertificate(t, tc.kind, tc.data, resolve.DigestKey{})
	if tc.reason == "" {
		testutil.Must(t, err)
		return
	}
	failure := failureOf(t, err)
	if want := tc.want + ". Referenced by: spec.networking.tls.secretName"; failure.Message != want || failure.Reason != tc.reason {
		t.Errorf("%s: %q, want %s: %q", failure.Reason, failure.Message, tc.reason, want)
	}
	if strings.Contains(failure.Message, "canary") {
		t.Error("the message shows the Secret's content")
	}
}

// TestDigestOfACertificate checks that the digest depends only on the certificate and on the key, and not on the
// authorities that certificate managers also store in the Secret.
func TestDigestOfACertificate(t *testing.T) {
	certificate, key := testutil.NewCertificate(t, query(always).Now.Add(time.Hour))
	renewed, renewedKey := testutil.NewCertificate(t, query(always).Now.Add(time.Hour))
	digestKey, err := resolve.NewDigestKeys(newWorld(), "op").Get(t.Context())
	testutil.Must(t, err)
	digest := func(data map[string][]byte) string {
		values, err := resolveCertificate(t, corev1.SecretTypeTLS, data, digestKey)
		testutil.Must(t, err)
		return values.Digest()
	}
	first := digest(map[string][]byte{"tls.crt": certificate, "tls.key": key})
	if again := digest(map[string][]byte{"tls.crt": certificate, "tls.key": key, "ca.crt": renewed}); again != first {
		t.Error("another authority changes the digest")
	}
	if other := digest(map[string][]byte{"tls.crt": renewed, "tls.key": renewedKey}); other == first {
		t.Error("another certificate has the same digest")
	}
}
