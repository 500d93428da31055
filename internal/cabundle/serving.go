package cabundle

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"

	roots "golang.org/x/crypto/x509roots/fallback/bundle"
)

// MaxAuthorities is the length of the longest text that authorities are read from, in bytes: a ConfigMap has to hold them.
const MaxAuthorities = 512 << 10

// Serving is the certificate that a server shows, and who signed it. It holds what everybody may know.
type Serving struct {
	// Authorities are those that are named beside the certificate, in DER form and in order. Nil: none is.
	Authorities [][]byte
	// Problem is why those are not read. Nil: they are, or there is no text for them.
	Problem *Problem

	leaf          *x509.Certificate
	intermediates *x509.CertPool
}

// NewServing reads a chain of certificates, that of the server first, and the text with its authorities, both in PEM
// form. Whatever else the text holds makes it unusable: it is to be copied. Nil: the chain has no certificate.
func NewServing(chain, authorities []byte) *Serving {
	serving := &Serving{intermediates: x509.NewCertPool()}
	for block, rest := pem.Decode(chain); block != nil; block, rest = pem.Decode(rest) {
		certificate, err := x509.ParseCertificate(block.Bytes)
		switch {
		case block.Type != certificateType || err != nil:
		case serving.leaf == nil:
			serving.leaf = certificate
		default:
			serving.intermediates.AddCert(certificate)
		}
	}
	if serving.leaf == nil {
		return nil
	}
	if len(authorities) > MaxAuthorities {
		serving.Problem = &Problem{Detail: "is too long"}
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

// AuthoritiesPEM is a text with the authorities alone. Nil: there are none.
func (s *Serving) AuthoritiesPEM() []byte {
	var text bytes.Buffer
	for _, certificate := range sorted(s.Authorities) {
		text.Write(pem.EncodeToMemory(&pem.Block{Type: certificateType, Bytes: certificate}))
	}
	return text.Bytes()
}

// Public reports whether a root of the public web signed the certificate, as of the time when it was issued.
func (s *Serving) Public() bool {
	if bytes.Equal(s.leaf.RawIssuer, s.leaf.RawSubject) {
		return false // the usual case of a certificate without authority, which costs nothing to tell
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

// Hostname is the first of the names that the certificate is for. Empty: it is for none of them.
func (s *Serving) Hostname(wanted ...string) string {
	for _, name := range wanted {
		if name != "" && s.leaf.VerifyHostname(name) == nil {
			return name
		}
	}
	return ""
}
