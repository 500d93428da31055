package pki

import (
	"crypto/ecdsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"testing"
	"time"
)

var now = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

func newAuthority(t *testing.T, name string) *Authority {
	t.Helper()
	a, err := NewAuthority(name, now)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// parse reads a pair as a server would and returns its certificate.
func parse(t *testing.T, pair Pair) *x509.Certificate {
	t.Helper()
	both, err := tls.X509KeyPair(pair.Certificate, pair.Key)
	if err != nil {
		t.Fatalf("the certificate and the key do not match: %v", err)
	}
	return both.Leaf
}

func verify(certificate *x509.Certificate, a *Authority, host string, at time.Time, usage x509.ExtKeyUsage) error {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(a.Pair().Certificate)
	_, err := certificate.Verify(x509.VerifyOptions{
		Roots: roots, DNSName: host, CurrentTime: at,
		KeyUsages: []x509.ExtKeyUsage{usage},
	})
	return err
}

func TestIssue(t *testing.T) {
	a := newAuthority(t, "ca")
	pair, err := a.Issue(Subject{
		CommonName: "system:someone", Organizations: []string{"system:masters"},
		Hosts: []string{"localhost", "127.0.0.1", "kubernetes.default.svc"},
	})
	if err != nil {
		t.Fatal(err)
	}
	certificate := parse(t, pair)
	if certificate.Subject.CommonName != "system:someone" || len(certificate.Subject.Organization) != 1 || certificate.Subject.Organization[0] != "system:masters" {
		t.Errorf("subject is %s", certificate.Subject)
	}
	for _, test := range []struct {
		name, host string
		at         time.Time
		usage      x509.ExtKeyUsage
		refused    bool
	}{
		{name: "server by name", host: "localhost", at: now, usage: x509.ExtKeyUsageServerAuth},
		{name: "server by address", host: "127.0.0.1", at: now, usage: x509.ExtKeyUsageServerAuth},
		{name: "server in the cluster", host: "kubernetes.default.svc", at: now, usage: x509.ExtKeyUsageServerAuth},
		{name: "client", at: now, usage: x509.ExtKeyUsageClientAuth},
		{name: "clock behind", at: now.Add(-30 * time.Minute), usage: x509.ExtKeyUsageClientAuth},
		{name: "after months", at: now.AddDate(0, 11, 0), usage: x509.ExtKeyUsageClientAuth},
		{name: "another host", host: "example.com", at: now, usage: x509.ExtKeyUsageServerAuth, refused: true},
		{name: "another address", host: "127.0.0.2", at: now, usage: x509.ExtKeyUsageServerAuth, refused: true},
		{name: "expired", at: now.AddDate(2, 0, 0), usage: x509.ExtKeyUsageClientAuth, refused: true},
		{name: "other use", at: now, usage: x509.ExtKeyUsageCodeSigning, refused: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := verify(certificate, a, test.host, test.at, test.usage)
			if refused := err != nil; refused != test.refused {
				t.Errorf("refused = %t (%v), want %t", refused, err, test.refused)
			}
		})
	}
}

func TestAuthoritiesDoNotTrustEachOther(t *testing.T) {
	one, other := newAuthority(t, "same-name"), newAuthority(t, "same-name")
	pair, err := one.Issue(Subject{CommonName: "x"})
	if err != nil {
		t.Fatal(err)
	}
	if err := verify(parse(t, pair), other, "", now, x509.ExtKeyUsageClientAuth); err == nil {
		t.Error("a certificate is trusted by an authority that did not sign it")
	}
}

func TestIssuedCertificateSignsNothing(t *testing.T) {
	pair, err := newAuthority(t, "ca").Issue(Subject{CommonName: "x"})
	if err != nil {
		t.Fatal(err)
	}
	certificate := parse(t, pair)
	if certificate.IsCA || certificate.KeyUsage&x509.KeyUsageCertSign != 0 {
		t.Error("an issued certificate can sign other certificates")
	}
}

func TestSerialNumbersDiffer(t *testing.T) {
	a := newAuthority(t, "ca")
	seen := map[string]bool{}
	for range 20 {
		pair, err := a.Issue(Subject{CommonName: "x"})
		if err != nil {
			t.Fatal(err)
		}
		serial := parse(t, pair).SerialNumber.String()
		if seen[serial] {
			t.Fatalf("serial number %s was used twice", serial)
		}
		seen[serial] = true
	}
}

func TestSigningKey(t *testing.T) {
	private, public, err := NewSigningKey()
	if err != nil {
		t.Fatal(err)
	}
	block, rest := pem.Decode(private)
	if block == nil || len(rest) > 0 {
		t.Fatalf("the private key is not one PEM block")
	}
	key, err := x509.ParseECPrivateKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	block, _ = pem.Decode(public)
	if block == nil {
		t.Fatal("the public key is not PEM")
	}
	parsed, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	checks, ok := parsed.(*ecdsa.PublicKey)
	if !ok || !checks.Equal(key.Public()) {
		t.Error("the public key does not belong to the private key")
	}
}
