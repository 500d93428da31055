package certificate

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// These are the keys of the Secret in addition to tls.crt and tls.key, which the Secret's type requires.
const (
	// bundleKey holds every certificate authority that clients have to trust, in PEM format.
	bundleKey = corev1.ServiceAccountRootCAKey
	// authorityKeysKey holds the keys of the authorities that still sign.
	authorityKeysKey = "ca.key"
)

const (
	pemCertificate = "CERTIFICATE"
	pemKey         = "PRIVATE KEY"
)

// content is the usable content of the Secret. Never print it, because it contains private keys.
type content struct {
	// authorities are in the order in which they were made.
	authorities []authority
	// serving is nil if there is no certificate with a matching key.
	serving *tls.Certificate
}

// authority is a certificate authority, with its key unless the key is lost.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// made returns the time at which the authority was added to the bundle.
func (a authority) made() time.Time { return a.certificate.NotBefore.Add(backdated) }

// read returns the usable part of the Secret's data. It ignores invalid and foreign content, and keys without a
// certificate.
func read(data map[string][]byte) content {
	var found content
	keys := readKeys(data[authorityKeysKey])
	for _, block := range blocks(data[bundleKey], pemCertificate) {
		certificate, err := x509.ParseCertificate(block)
		if err != nil || !isOurs(certificate) || found.authority(certificate) {
			continue
		}
		found.authorities = append(found.authorities, authority{certificate: certificate, key: keyOf(certificate, keys)})
	}
	found.sort()
	// X509KeyPair also returns an error if the certificate and the key do not match.
	if pair, err := tls.X509KeyPair(data[corev1.TLSCertKey], data[corev1.TLSPrivateKeyKey]); err == nil {
		found.serving = &pair
	}
	return found
}

// sort orders the authorities by the time at which they were made, and authorities with the same time by their bytes.
func (c content) sort() {
	slices.SortFunc(c.authorities, func(a, b authority) int {
		if order := a.certificate.NotBefore.Compare(b.certificate.NotBefore); order != 0 {
			return order
		}
		return bytes.Compare(a.certificate.Raw, b.certificate.Raw)
	})
}

// isOurs reports whether this package made the authority.
func isOurs(certificate *x509.Certificate) bool {
	return certificate.IsCA && certificate.Subject.CommonName == authorityName &&
		certificate.CheckSignatureFrom(certificate) == nil
}

func (c content) authority(certificate *x509.Certificate) bool {
	return slices.ContainsFunc(c.authorities, func(a authority) bool { return a.certificate.Equal(certificate) })
}

// blocks returns the contents of all PEM blocks of a type.
func blocks(data []byte, kind string) [][]byte {
	var found [][]byte
	for block, rest := pem.Decode(data); block != nil; block, rest = pem.Decode(rest) {
		if block.Type == kind {
			found = append(found, block.Bytes)
		}
	}
	return found
}

func readKeys(data []byte) []*ecdsa.PrivateKey {
	var found []*ecdsa.PrivateKey
	for _, block := range blocks(data, pemKey) {
		if key, err := x509.ParsePKCS8PrivateKey(block); err == nil {
			if key, is := key.(*ecdsa.PrivateKey); is {
				found = append(found, key)
			}
		}
	}
	return found
}

// keyOf returns the certificate's key, or nil if it is not among the keys.
func keyOf(certificate *x509.Certificate, keys []*ecdsa.PrivateKey) *ecdsa.PrivateKey {
	public, is := certificate.PublicKey.(*ecdsa.PublicKey)
	i := slices.IndexFunc(keys, func(key *ecdsa.PrivateKey) bool { return is && key.PublicKey.Equal(public) })
	if i < 0 {
		return nil
	}
	return keys[i]
}

// bundle returns every authority in PEM format.
func (c content) bundle() []byte {
	var text bytes.Buffer
	for _, a := range c.authorities {
		text.Write(encode(pemCertificate, a.certificate.Raw))
	}
	return text.Bytes()
}

// data returns the data of the Secret. The same content always results in the same bytes.
func (c content) data() (map[string][]byte, error) {
	var keys bytes.Buffer
	for _, a := range c.authorities {
		if a.key == nil {
			continue
		}
		encoded, err := encodeKey(a.key)
		if err != nil {
			return nil, err
		}
		keys.Write(encoded)
	}
	key, err := encodeKey(c.serving.PrivateKey)
	if err != nil {
		return nil, err
	}
	return map[string][]byte{
		corev1.TLSCertKey: encode(pemCertificate, c.serving.Certificate[0]), corev1.TLSPrivateKeyKey: key,
		bundleKey: c.bundle(), authorityKeysKey: keys.Bytes(),
	}, nil
}

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

func encodeKey(key crypto.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("encode a private key: %w", err)
	}
	return encode(pemKey, der), nil
}
