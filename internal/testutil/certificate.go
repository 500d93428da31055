package testutil

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"testing"
	"time"
)

// SameCertificate returns a certificate and its key, as NewCertificate does, but the result is the same in every run.
// It is for tests that record digests.
func SameCertificate(t testing.TB) (certificate, key []byte) {
	t.Helper()
	begin := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	return encode(t, begin, begin.AddDate(100, 0, 0), ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)), "localhost")
}

// NewCertificate returns a self-signed certificate and its key, in PEM format, for localhost and additional names.
func NewCertificate(t testing.TB, notAfter time.Time, names ...string) (certificate, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatalf("make key: %v", err)
	}
	return encode(t, notAfter.Add(-365*24*time.Hour), notAfter, private, append([]string{"localhost"}, names...)...)
}

// CertificateFor returns a certificate as NewCertificate does, but only for these names and without the key.
func CertificateFor(t testing.TB, names ...string) []byte {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatalf("make key: %v", err)
	}
	certificate, _ := encode(t, time.Now(), time.Now().Add(time.Hour), private, names...)
	return certificate
}

func encode(
	t testing.TB, notBefore, notAfter time.Time, private crypto.Signer, names ...string,
) (certificate, key []byte) {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		Subject:      pkix.Name{CommonName: "llama-stack test"},
		NotBefore:    notBefore,
		NotAfter:     notAfter,
		DNSNames:     names,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatalf("make certificate: %v", err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatalf("encode key: %v", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded})
}
