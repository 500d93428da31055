package pki

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"time"
)

const (
	// validity is the validity period of an authority. It is longer than the lifetime of any test cluster.
	validity = 365 * 24 * time.Hour
	// skew is the time from the start of the validity period until now, so that a certificate is valid on a machine
	// whose clock is slightly behind.
	skew = time.Hour
)

// Pair is a certificate and its private key, both in PEM format.
type Pair struct {
	Certificate, Key []byte
}

// Subject is the subject of a certificate.
type Subject struct {
	// CommonName is the user name that Kubernetes reads from a client certificate. Organizations are the groups.
	CommonName    string
	Organizations []string
	// Hosts are the DNS names and IP addresses of a server.
	Hosts []string
}

// Authority signs certificates.
type Authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	pair        Pair
}

// NewAuthority returns a self-signed authority. Its certificates are valid from an hour before now until a year after
// now.
func NewAuthority(name string, now time.Time) (*Authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("making the key of authority %q: %w", name, err)
	}
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: name},
		NotBefore:             now.Add(-skew),
		NotAfter:              now.Add(validity),
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		BasicConstraintsValid: true,
		IsCA:                  true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("signing authority %q: %w", name, err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("reading back authority %q: %w", name, err)
	}
	pair, err := encode(der, key)
	return &Authority{certificate: certificate, key: key, pair: pair}, err
}

// Pair returns the authority's own certificate and key.
func (a *Authority) Pair() Pair { return a.pair }

// Issue signs a certificate for a client and, if the subject has hosts, for a server. The certificate expires together
// with the authority's certificate.
func (a *Authority) Issue(subject Subject) (Pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Pair{}, fmt.Errorf("making the key of %q: %w", subject.CommonName, err)
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return Pair{}, fmt.Errorf("choosing the serial number of %q: %w", subject.CommonName, err)
	}
	template := &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: subject.CommonName, Organization: subject.Organizations},
		NotBefore:    a.certificate.NotBefore,
		NotAfter:     a.certificate.NotAfter,
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	}
	template.DNSNames, template.IPAddresses = split(subject.Hosts)
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	if err != nil {
		return Pair{}, fmt.Errorf("signing the certificate of %q: %w", subject.CommonName, err)
	}
	return encode(der, key)
}

// NewSigningKey returns the key pair that signs (private) and verifies (public) service account tokens, both in PEM
// form.
func NewSigningKey() (private, public []byte, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("making the service account key: %w", err)
	}
	private, err = encodeKey(key)
	if err != nil {
		return nil, nil, err
	}
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return nil, nil, fmt.Errorf("encoding the service account key: %w", err)
	}
	return private, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), nil
}

// split separates IP addresses from DNS names.
func split(hosts []string) (names []string, addresses []net.IP) {
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			addresses = append(addresses, ip)
		} else {
			names = append(names, host)
		}
	}
	return names, addresses
}

func encode(certificate []byte, key *ecdsa.PrivateKey) (Pair, error) {
	private, err := encodeKey(key)
	if err != nil {
		return Pair{}, err
	}
	block := &pem.Block{Type: "CERTIFICATE", Bytes: certificate}
	return Pair{Certificate: pem.EncodeToMemory(block), Key: private}, nil
}

func encodeKey(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("encoding a private key: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), nil
}
