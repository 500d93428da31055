package cabundle

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// CheckSecret returns an error that explains why a server cannot serve HTTPS with a Secret. It returns nil if the
// server can, or if the certificate or the key is missing. A zero time leaves out the check of the expiry. The error
// does not contain the Secret's data.
func CheckSecret(secret *corev1.Secret, now time.Time) error {
	if secret.Type != corev1.SecretTypeTLS {
		return fmt.Errorf("has the type %q; create the Secret again with the type %s", secret.Type, corev1.SecretTypeTLS)
	}
	certificate, key := secret.Data[corev1.TLSCertKey], secret.Data[corev1.TLSPrivateKeyKey]
	if len(certificate) == 0 || len(key) == 0 {
		return nil // the caller reports the missing key
	}
	leaf, err := ParseLeaf(certificate)
	if err != nil {
		return err
	}
	if err := checkKey(key); err != nil {
		return err
	}
	if _, err := tls.X509KeyPair(certificate, key); err != nil {
		return errors.New("has a certificate and a key that do not match; " +
			"create the Secret again from a certificate and its private key")
	}
	if now.After(leaf.NotAfter) {
		return fmt.Errorf("has a certificate that expired on %s; renew the certificate",
			leaf.NotAfter.UTC().Format(time.DateOnly))
	}
	return nil
}

// ParseLeaf returns the first certificate of a chain, which is the certificate of the server.
func ParseLeaf(data []byte) (*x509.Certificate, error) {
	block := findPEM(data, func(block *pem.Block) bool { return block.Type == certificateType })
	if block == nil {
		return nil, fmt.Errorf("has no certificate in PEM format under %s; store the certificate in PEM format",
			corev1.TLSCertKey)
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("has an invalid certificate under %s; replace the certificate", corev1.TLSCertKey)
	}
	return certificate, nil
}

// These are the limits of keys. The time for an RSA key grows with more than the square of its length: a key of 300 KB
// takes minutes. TLS clients reject an RSA key of more than 16,384 bits, whose private key has 9 KiB.
const (
	maxKey     = 10 << 10
	maxRSABits = 16 << 10
)

// checkKey returns an error for a private key that cannot be used with any certificate, so that such a key is not
// reported as the key for a different certificate.
func checkKey(data []byte) error {
	block := findPEM(data, isKey)
	switch {
	case block == nil:
		return fmt.Errorf("has no private key in PEM format under %s; store the private key in PEM format", corev1.TLSPrivateKeyKey)
	case block.Type == "ENCRYPTED PRIVATE KEY" || block.Headers["DEK-Info"] != "":
		return fmt.Errorf("has a private key with a passphrase under %s; store the private key without the passphrase", corev1.TLSPrivateKeyKey)
	}
	if findPEM(data, func(block *pem.Block) bool { return isKey(block) && len(block.Bytes) > maxKey }) != nil {
		return fmt.Errorf("has a private key of more than %d bytes under %s; use a shorter key", maxKey, corev1.TLSPrivateKeyKey)
	}
	_, pkcs1 := x509.ParsePKCS1PrivateKey(block.Bytes)
	_, pkcs8 := x509.ParsePKCS8PrivateKey(block.Bytes)
	_, ec := x509.ParseECPrivateKey(block.Bytes)
	if pkcs1 != nil && pkcs8 != nil && ec != nil {
		return fmt.Errorf("has an invalid private key under %s; replace the private key", corev1.TLSPrivateKeyKey)
	}
	return nil
}

func isKey(block *pem.Block) bool { return strings.HasSuffix(block.Type, "PRIVATE KEY") }

// findPEM returns the first wanted block, or nil if there is no such block.
func findPEM(data []byte, wanted func(*pem.Block) bool) *pem.Block {
	for {
		var block *pem.Block
		if block, data = pem.Decode(data); block == nil || wanted(block) {
			return block
		}
	}
}

// Fingerprint returns the SHA-256, in hex, of the certificate that a server with this chain presents. It is empty if
// the first certificate of the chain is missing or invalid.
func Fingerprint(chain []byte) string {
	certificate, err := ParseLeaf(chain)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(certificate.Raw)
	return hex.EncodeToString(sum[:])
}
