package webhook

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

const (
	bundleKey        = "ca.crt"
	authorityKeysKey = "ca.key"
	// backdated is the time from the start of a certificate's validity until the operator creates the certificate.
	backdated = 24 * time.Hour
	day       = 24 * time.Hour
)

// ours is the common name of the operator's certificate authorities.
const ours = "llama-stack-k8s-operator webhook CA"

// authority is a certificate authority that signs certificates in the same way as the operator's authority.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// newAuthority creates an authority of the given age.
func newAuthority(t *testing.T, name string, age time.Duration) authority {
	t.Helper()
	made := time.Now().Add(-age)
	template := &x509.Certificate{
		SerialNumber: serial(t), Subject: pkix.Name{CommonName: name}, NotBefore: made.Add(-backdated),
		NotAfter:              made.Add(10 * 365 * day),
		BasicConstraintsValid: true, IsCA: true, MaxPathLenZero: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	testutil.Must(t, err)
	return authority{certificate: sign(t, template, template, key, key), key: key}
}

// issue creates a serving certificate of the given age, and returns the certificate and its key in PEM format.
func (a authority) issue(t *testing.T, age time.Duration) (certificate, key []byte) {
	t.Helper()
	made := time.Now().Add(-age)
	template := &x509.Certificate{
		SerialNumber: serial(t), NotBefore: made.Add(-backdated), NotAfter: made.Add(90 * day),
		DNSNames:              []string{serverName},
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	testutil.Must(t, err)
	return encodeCertificate(sign(t, template, a.certificate, private, a.key)), encodeKey(t, private)
}

func serial(t *testing.T) *big.Int {
	t.Helper()
	number, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	testutil.Must(t, err)
	return number
}

func sign(t *testing.T, template, parent *x509.Certificate, of, by *ecdsa.PrivateKey) *x509.Certificate {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, template, parent, of.Public(), by)
	testutil.Must(t, err)
	certificate, err := x509.ParseCertificate(der)
	testutil.Must(t, err)
	return certificate
}

func encodeCertificate(certificate *x509.Certificate) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate.Raw})
}

func encodeKey(t *testing.T, key *ecdsa.PrivateKey) []byte {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	testutil.Must(t, err)
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}

// keep writes the Secret as the operator does, with one authority and a new certificate.
func (c *cluster) keep(t *testing.T, a authority) {
	t.Helper()
	certificate, key := a.issue(t, 0)
	secret := &corev1.Secret{Type: corev1.SecretTypeTLS, Data: map[string][]byte{
		bundleKey: encodeCertificate(a.certificate), authorityKeysKey: encodeKey(t, a.key),
		corev1.TLSCertKey: certificate, corev1.TLSPrivateKeyKey: key,
	}}
	secret.Namespace, secret.Name = names.OperatorNamespace, names.WebhookCertificateSecret
	secret.Labels = map[string]string{names.LabelManagedBy: names.ManagedBy}
	testutil.Must(t, c.Create(t.Context(), secret))
}

// secret returns the Secret with the certificates.
func (c *cluster) secret(t *testing.T) *corev1.Secret {
	t.Helper()
	secret := &corev1.Secret{}
	testutil.Must(t, c.Get(t.Context(), client.ObjectKey{
		Namespace: names.OperatorNamespace,
		Name:      names.WebhookCertificateSecret,
	}, secret))
	return secret
}

func (c *cluster) definition(t *testing.T) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	definition := &apiextensionsv1.CustomResourceDefinition{}
	testutil.Must(t, c.Get(t.Context(), client.ObjectKey{Name: names.CustomResourceDefinition}, definition))
	return definition
}

// configuration returns the configuration of the validating webhook.
func (c *cluster) configuration(t *testing.T) *admissionv1.ValidatingWebhookConfiguration {
	t.Helper()
	configuration := &admissionv1.ValidatingWebhookConfiguration{}
	testutil.Must(t, c.Get(t.Context(), client.ObjectKey{Name: names.ValidatingWebhookConfiguration}, configuration))
	return configuration
}

// trusted returns an error until the bundles of both webhooks contain the operator's authorities.
func (c *cluster) trusted(t *testing.T) error {
	t.Helper()
	want := string(c.secret(t).Data[bundleKey])
	if got := string(c.definition(t).Spec.Conversion.Webhook.ClientConfig.CABundle); got != want {
		return fmt.Errorf("the definition has the bundle %q, want %q", got, want)
	}
	if got := string(c.configuration(t).Webhooks[0].ClientConfig.CABundle); got != want {
		return fmt.Errorf("the webhook configuration has the bundle %q, want %q", got, want)
	}
	return nil
}

// change edits an object as a user does, and tries again after a conflict.
func change[T client.Object](t *testing.T, c *cluster, read func(*testing.T) T, edit func(T)) {
	t.Helper()
	testutil.Within(t, patience, func() error {
		object := read(t)
		edit(object)
		return c.Update(t.Context(), object)
	})
}
