package certificate

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"slices"
	"time"
)

// authorityName is the subject of every authority that this package creates.
const authorityName = "llama-stack-k8s-operator webhook CA"

// serialBits is the size, in bits, of a random serial number. RFC 5280 4.1.2.2 allows 20 octets.
const serialBits = 127

// newAuthority creates a certificate authority.
func newAuthority(now time.Time) (authority, error) {
	template, key, err := prepare(authorityName, now, now.Add(authorityLife))
	if err != nil {
		return authority{}, err
	}
	template.IsCA, template.MaxPathLenZero = true, true // the authority does not sign other authorities
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	certificate, err := sign(template, template, key, key)
	if err != nil {
		return authority{}, fmt.Errorf("create a certificate authority: %w", err)
	}
	return authority{certificate: certificate, key: key}, nil
}

// issue creates a serving certificate for the DNS names. The first name is its subject.
func (a authority) issue(dnsNames []string, now time.Time) (*tls.Certificate, error) {
	// RFC 5280 does not allow a longer subject than 64 characters.
	subject := dnsNames[0][:min(len(dnsNames[0]), 64)]
	notAfter := slices.MinFunc([]time.Time{now.Add(servingLife), a.certificate.NotAfter}, time.Time.Compare)
	template, key, err := prepare(subject, now, notAfter)
	if err != nil {
		return nil, err
	}
	template.DNSNames = dnsNames
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	leaf, err := sign(template, a.certificate, key, a.key)
	if err != nil {
		return nil, fmt.Errorf("create a serving certificate: %w", err)
	}
	return &tls.Certificate{Certificate: [][]byte{leaf.Raw}, PrivateKey: key, Leaf: leaf}, nil
}

// sign returns the certificate for a key, signed with the key of a parent.
func sign(template, parent *x509.Certificate, key, signer *ecdsa.PrivateKey) (*x509.Certificate, error) {
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		return nil, err
	}
	return x509.ParseCertificate(der)
}

func prepare(name string, now, notAfter time.Time) (*x509.Certificate, *ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("create a private key: %w", err)
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), serialBits))
	if err != nil {
		return nil, nil, fmt.Errorf("create a serial number: %w", err)
	}
	now = now.Truncate(time.Second) // Times in a certificate have a precision of one second.
	return &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name}, NotBefore: now.Add(-backdated),
		NotAfter:              notAfter.Truncate(time.Second),
		BasicConstraintsValid: true,
	}, key, nil
}
