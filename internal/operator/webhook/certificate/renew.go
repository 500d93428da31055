package certificate

import (
	"crypto/x509"
	"slices"
	"time"
)

const (
	authorityLife = 10 * 365 * 24 * time.Hour
	servingLife   = 90 * 24 * time.Hour
	// backdated is the time between the start of a certificate's validity and the certificate's creation. Clocks in a
	// cluster differ, and a replica whose clock is behind has to accept the certificates of other replicas.
	backdated = 24 * time.Hour
	// settled is the time for which a new authority is in the bundle before it signs certificates, because clients receive
	// the bundle with a delay.
	settled = time.Hour
)

// renew returns the new content of the Secret, and the time of the next renewal check. It keeps all content that is
// still good.
//
// At first, a new authority is only added to the bundle. It signs certificates after it has been in the bundle for the
// duration `settled`, or immediately if no other authority is valid. The function removes an authority from the bundle
// when the authority has expired, or when every certificate that it could have signed has expired.
func renew(found content, now time.Time, dnsNames []string) (wanted content, next time.Time, err error) {
	wanted.authorities = slices.DeleteFunc(slices.Clone(found.authorities),
		func(a authority) bool { return !validAt(a.certificate, now) })
	if newest := last(wanted.authorities, authority.signs); newest == nil || !now.Before(due(newest.certificate)) {
		made, err := newAuthority(now)
		if err != nil {
			return content{}, time.Time{}, err
		}
		wanted.authorities = append(wanted.authorities, made)
		wanted.sort()
	}
	wanted.serving = found.serving
	if signer := wanted.signer(now, dnsNames); signer != nil {
		if wanted.serving, err = signer.issue(dnsNames, now); err != nil {
			return content{}, time.Time{}, err
		}
	}
	wanted.authorities = slices.DeleteFunc(wanted.authorities, func(a authority) bool {
		leaves, does := wanted.leaves(a)
		return does && !now.Before(leaves) && !wanted.servesBy(a)
	})
	return wanted, wanted.next(now), nil
}

// signer returns the authority that has to issue a serving certificate now. It returns nil if the current certificate
// is still good.
func (c content) signer(now time.Time, dnsNames []string) *authority {
	serves := c.serves(now, dnsNames)
	if serves && now.Before(due(c.serving.Leaf)) {
		return nil
	}
	if signer := last(c.authorities, func(a authority) bool {
		return a.signs() &&
			!now.Before(a.settles())
	}); signer != nil {
		return signer
	}
	newest := last(c.authorities, authority.signs)
	if serves && newest.settles().Before(c.serving.Leaf.NotAfter) {
		return nil // the certificate remains valid until the newest authority can sign
	}
	return newest
}

// serves reports whether clients that trust the bundle accept the serving certificate for all of the names.
func (c content) serves(now time.Time, dnsNames []string) bool {
	if c.serving == nil {
		return false
	}
	roots := x509.NewCertPool()
	for _, a := range c.authorities {
		roots.AddCert(a.certificate)
	}
	_, err := c.serving.Leaf.Verify(x509.VerifyOptions{
		Roots: roots, CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	})
	unnamed := func(name string) bool { return c.serving.Leaf.VerifyHostname(name) != nil }
	return err == nil && !slices.ContainsFunc(dnsNames, unnamed)
}

// servesBy reports whether the authority signed the serving certificate.
func (c content) servesBy(a authority) bool {
	return c.serving.Leaf.CheckSignatureFrom(a.certificate) == nil
}

// leaves returns the time by which every certificate that the authority signed has expired. It returns false if there
// is no later authority, because in that case the authority can still sign certificates.
func (c content) leaves(a authority) (time.Time, bool) {
	later := slices.IndexFunc(c.authorities, func(b authority) bool { return b.signs() && a.made().Before(b.made()) })
	if later < 0 {
		return time.Time{}, false
	}
	return c.authorities[later].settles().Add(servingLife), true
}

// next returns the next time at which an authority or the certificate may have to be renewed or removed.
func (c content) next(now time.Time) time.Time {
	moments := []time.Time{due(c.serving.Leaf), c.serving.Leaf.NotAfter}
	for _, a := range c.authorities {
		moments = append(moments, a.settles(), due(a.certificate), a.certificate.NotAfter)
		if leaves, does := c.leaves(a); does {
			moments = append(moments, leaves)
		}
	}
	moments = slices.DeleteFunc(moments, func(moment time.Time) bool { return !moment.After(now) })
	return slices.MinFunc(moments, time.Time.Compare) // not empty, because valid authorities expire later
}

func (a authority) signs() bool { return a.key != nil }

func (a authority) settles() time.Time { return a.made().Add(settled) }

// last returns the last authority that matches, or nil if none matches.
func last(authorities []authority, is func(authority) bool) *authority {
	for i := range slices.Backward(authorities) {
		if is(authorities[i]) {
			return &authorities[i]
		}
	}
	return nil
}

func validAt(certificate *x509.Certificate, now time.Time) bool {
	return !now.Before(certificate.NotBefore) && now.Before(certificate.NotAfter)
}

// due returns the time at which two thirds of a certificate's lifetime have passed.
func due(certificate *x509.Certificate) time.Time {
	made := certificate.NotBefore.Add(backdated)
	return made.Add(certificate.NotAfter.Sub(made) * 2 / 3)
}
