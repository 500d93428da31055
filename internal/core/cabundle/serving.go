package cabundle

import (
	"bytes"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"

	roots "golang.org/x/crypto/x509roots/fallback/bundle"
)

// MaxAuthorities is the maximum length in bytes of a text with authorities. The text has to fit into a ConfigMap.
const MaxAuthorities = 512 << 10

// Serving is a server's certificate and its authorities. It contains only public data.
type Serving struct {
	// Authorities lists the authorities that came with the certificate, in DER form and in order. Nil means that there
	// are none.
	Authorities [][]byte
	// Problem is the reason why the authorities cannot be used. Nil means that they can be used, or that there is no text
	// with authorities.
	Problem *Problem

	leaf          *x509.Certificate
	intermediates *x509.CertPool
}

// NewServing reads a certificate chain, which begins with the server's certificate, and the text with its authorities,
// both in PEM format. The text must contain only certificates, because the operator copies them into a ConfigMap.
// NewServing returns nil if the chain contains no certificate.
func NewServing(chain, authorities []byte) *Serving {
	serving := &Serving{intermediates: x509.NewCertPool()}
	for block, rest := pem.Decode(chain); block != nil; block, rest = pem.Decode(rest) {
		certificate, err := x509.ParseCertificate(block.Bytes)
		switch {
		case block.Type != certificateType || err != nil:
		case serving.leaf == nil:
			serving.leaf = certificate
		case HasLongKey(certificate):
		default:
			serving.intermediates.AddCert(certificate)
		}
	}
	if serving.leaf == nil {
		return nil
	}
	if len(authorities) > MaxAuthorities {
		serving.Problem = &Problem{Detail: fmt.Sprintf("is longer than %d bytes: store only the authority's certificate in this key", MaxAuthorities)}
		return serving
	}
	found, problems := Read(authorities)
	if len(problems) > 0 {
		serving.Problem = &problems[0]
		return serving
	}
	serving.Authorities = found
	return serving
}

// HasLongKey reports whether signatures must not be verified with the key of a certificate, because it takes too long.
func HasLongKey(certificate *x509.Certificate) bool {
	key, ok := certificate.PublicKey.(*rsa.PublicKey)
	return ok && key.N.BitLen() > maxRSABits
}

// AuthoritiesPEM returns the authorities in PEM format, or nil if there are none.
func (s *Serving) AuthoritiesPEM() []byte { return encode(s.Authorities) }

// Public reports whether the certificate chains to a public root. It verifies the chain as of the time of issue, so
// that the result does not change when the certificate expires.
func (s *Serving) Public() bool {
	if bytes.Equal(s.leaf.RawIssuer, s.leaf.RawSubject) {
		return false // self-signed certificates are common, and this check is cheap
	}
	pool := x509.NewCertPool()
	for root := range roots.Roots() {
		certificate, err := x509.ParseCertificate(root.Certificate)
		switch {
		case err != nil:
		case root.Constraint == nil:
			pool.AddCert(certificate)
		default:
			pool.AddCertWithConstraint(certificate, root.Constraint)
		}
	}
	_, err := s.leaf.Verify(x509.VerifyOptions{Roots: pool, Intermediates: s.intermediates, CurrentTime: s.leaf.NotBefore})
	return err == nil
}

// Hostname returns the first of the names that the certificate is valid for, or "" if it is valid for none of them.
func (s *Serving) Hostname(wanted ...string) string {
	for _, name := range wanted {
		if name != "" && s.leaf.VerifyHostname(name) == nil {
			return name
		}
	}
	return ""
}
