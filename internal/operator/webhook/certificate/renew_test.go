package certificate

import (
	"bytes"
	"crypto/rand"
	"crypto/x509"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

const day = 24 * time.Hour

var start = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

// made returns the data of a Secret that was renewed at each of these times.
func made(t *testing.T, times ...time.Time) map[string][]byte {
	t.Helper()
	var data map[string][]byte
	for _, now := range times {
		data, _ = renewed(t, data, now, name)
	}
	return data
}

// renewed returns the renewed data, and the time of the next renewal check.
func renewed(t *testing.T, data map[string][]byte, now time.Time, names ...string) (map[string][]byte, time.Time) {
	t.Helper()
	wanted, next, err := renew(read(data), now, names)
	testutil.Must(t, err)
	if data, err = wanted.data(); err != nil {
		t.Fatal(err)
	}
	if !next.After(now) {
		t.Errorf("at %v, the next renewal check is at %v", now, next)
	}
	return data, next
}

// strangeAuthority returns an authority that this package did not make, in PEM format.
func strangeAuthority(t *testing.T) string {
	t.Helper()
	template, key, err := prepare("corporate CA", start, start.Add(authorityLife))
	testutil.Must(t, err)
	template.IsCA = true
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	testutil.Must(t, err)
	return string(encode(pemCertificate, der))
}

func without(data map[string][]byte, keys ...string) map[string][]byte {
	for _, key := range keys {
		delete(data, key)
	}
	return data
}

func with(data map[string][]byte, key, value string) map[string][]byte {
	data[key] = []byte(value)
	return data
}

// old and fresh represent existing and new certificates and authorities.
const old, fresh = "old ", "new "

// renewCase is a Secret and its expected content at a point in time.
type renewCase struct {
	data  map[string][]byte
	now   time.Time
	names []string
	// bundle and serving name the expected content: existing or new certificates.
	bundle, serving string
	// next is the time of the next renewal check. Zero means any time.
	next time.Time
}

// certificateCases cover the serving certificate and the content of the Secret.
func certificateCases(t *testing.T) map[string]renewCase {
	t.Helper()
	foreign := made(t, start)
	return map[string]renewCase{
		"missing": {data: nil, now: start, bundle: fresh, serving: fresh, next: start.Add(settled)},
		"empty":   {data: map[string][]byte{}, now: start, bundle: fresh, serving: fresh},
		"good":    {data: made(t, start), now: start.Add(day), bundle: old, serving: old, next: start.Add(60 * day)},
		"just before renewal is due": {
			data: made(t, start), now: start.Add(60*day - time.Second), bundle: old, serving: old, next: start.Add(60 * day),
		},
		"due": {
			data: made(t, start), now: start.Add(60 * day), bundle: old, serving: fresh, next: start.Add(120 * day),
		},
		"expired":                       {data: made(t, start), now: start.Add(91 * day), bundle: old, serving: fresh},
		"everything expired":            {data: made(t, start), now: start.Add(authorityLife), bundle: fresh, serving: fresh},
		"a clock that is slightly slow": {data: made(t, start), now: start.Add(-23 * time.Hour), bundle: old, serving: old},
		"a clock that is too slow": {
			data: made(t, start), now: start.Add(-25 * time.Hour), bundle: fresh, serving: fresh,
		},
		"another name":           {data: made(t, start), now: start.Add(day), names: []string{"other.operators.svc"}, bundle: old, serving: fresh},
		"an additional name":     {data: made(t, start), now: start.Add(day), names: []string{name, "other.operators.svc"}, bundle: old, serving: fresh},
		"an invalid certificate": {data: with(made(t, start), corev1.TLSCertKey, "garbage"), now: start.Add(day), bundle: old, serving: fresh},
		"an invalid key":         {data: with(made(t, start), corev1.TLSPrivateKeyKey, "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"), now: start.Add(day), bundle: old, serving: fresh},
		"the key of another certificate": {data: with(made(t, start), corev1.TLSPrivateKeyKey,
			string(foreign[corev1.TLSPrivateKeyKey])), now: start.Add(day), bundle: old, serving: fresh},
		"a certificate of an unknown authority": {
			data: with(with(made(t, start), corev1.TLSPrivateKeyKey,
				string(foreign[corev1.TLSPrivateKeyKey])), corev1.TLSCertKey, string(foreign[corev1.TLSCertKey])),
			now: start.Add(day), bundle: old, serving: fresh,
		},
		"an authority in place of the certificate": {
			data: with(with(made(t, start), corev1.TLSPrivateKeyKey,
				string(foreign[authorityKeysKey])), corev1.TLSCertKey, string(foreign[bundleKey])), now: start.Add(day),
			bundle: old, serving: fresh,
		},
		"no bundle":         {data: without(made(t, start), bundleKey), now: start.Add(day), bundle: fresh, serving: fresh},
		"an invalid bundle": {data: with(made(t, start), bundleKey, "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"), now: start.Add(day), bundle: fresh, serving: fresh},
		"a bundle with a serving certificate": {
			data: with(made(t, start), bundleKey, string(foreign[corev1.TLSCertKey])),
			now:  start.Add(day), bundle: fresh, serving: fresh,
		},
	}
}

// authorityCases cover the replacement of the authority.
func authorityCases(t *testing.T) map[string]renewCase {
	t.Helper()
	twoThirds := start.Add(authorityLife * 2 / 3)
	late := twoThirds.Add(-40 * day) // a serving certificate issued at this time is not due for renewal at twoThirds
	trusted, stranger := made(t, start), strangeAuthority(t)
	return map[string]renewCase{
		// The new authority does not sign yet, because clients trust the old one and the serving certificate is still valid.
		"the key of the authority is lost": {
			data: without(made(t, start), authorityKeysKey), now: start.Add(day),
			bundle: old + fresh, serving: old, next: start.Add(day + settled),
		},
		"the key of the authority is lost, and the certificate ends soon": {
			data: without(made(t, start), authorityKeysKey),
			now:  start.Add(90*day - settled), bundle: old + fresh, serving: fresh,
		},
		"an authority at two thirds": {
			data: made(t, start, late), now: twoThirds, bundle: old + fresh, serving: old, next: twoThirds.Add(settled),
		},
		"authority and certificate at two thirds": {
			data: made(t, start), now: twoThirds, bundle: old + fresh, serving: fresh,
		},
		"authority and newer certificate at two thirds": {
			data: made(t, start, twoThirds.Add(-60*day)), now: twoThirds,
			bundle: old + fresh, serving: fresh,
		},
		"a new authority has not settled": {
			data: made(t, start, twoThirds.Add(-20*day), twoThirds),
			now:  twoThirds.Add(settled - time.Second), bundle: old + old, serving: old, next: twoThirds.Add(settled),
		},
		"the new authority has settled, and no certificate is due": {data: made(t, start, late, twoThirds), now: twoThirds.Add(settled), bundle: old + old, serving: old, next: late.Add(60 * day)},
		"an old authority that may have signed": {
			data: made(t, start, late, twoThirds, late.Add(60*day)),
			now:  late.Add(61 * day), bundle: old + old, serving: old, next: late.Add(120 * day),
		},
		"all certificates of the old authority have expired": {data: made(t, start, late, twoThirds, late.Add(60*day),
			late.Add(120*day)), now: twoThirds.Add(settled + servingLife), bundle: old, serving: old},
		"only the served certificate of the old authority is valid": {
			data: made(t, start, twoThirds),
			now:  twoThirds.Add(settled + servingLife), bundle: old, serving: fresh,
		},
		"an authority that expires before a new certificate would": {data: made(t, start, start.Add(authorityLife-2*day)), now: start.Add(authorityLife - day), bundle: old + old, serving: old},
		"an authority of another writer": {
			data: with(made(t, start), bundleKey, stranger), now: start.Add(day), bundle: fresh, serving: fresh,
		},
		"an authority of another writer in addition to ours": {
			data: with(trusted, bundleKey, string(trusted[bundleKey])+stranger),
			now:  start.Add(day), bundle: old, serving: old,
		},
	}
}

// TestRenew checks the renewal of a Secret at a given time, and that a second renewal does not change the result.
func TestRenew(t *testing.T) {
	cases := certificateCases(t)
	maps.Copy(cases, authorityCases(t))
	for what, tc := range cases {
		t.Run(what, func(t *testing.T) { tc.check(t) })
	}
}

func (tc renewCase) check(t *testing.T) {
	t.Helper()
	if tc.names == nil {
		tc.names = []string{name}
	}
	data, next := renewed(t, tc.data, tc.now, tc.names...)
	bundle, before := "", read(tc.data)
	for _, a := range read(data).authorities {
		bundle += map[bool]string{true: old, false: fresh}[before.authority(a.certificate)]
	}
	if bundle != tc.bundle {
		t.Errorf("the authorities are %s, want %s", bundle, tc.bundle)
	}
	if same := bytes.Equal(tc.data[corev1.TLSCertKey], data[corev1.TLSCertKey]); same != (tc.serving == old) {
		t.Errorf("the serving certificate is the same: %v", same)
	}
	if !tc.next.IsZero() && !next.Equal(tc.next) {
		t.Errorf("the next renewal check is after %v, want %v", next.Sub(tc.now), tc.next.Sub(tc.now))
	}
	if !read(data).serves(tc.now, tc.names) {
		t.Error("clients that trust the bundle do not accept the certificate")
	}
	// Clients with the previous bundle accept the current certificate if the old authority can still sign.
	stale := content{authorities: before.authorities, serving: read(data).serving}
	signs := func(a authority) bool { return a.signs() && validAt(a.certificate, tc.now) }
	if last(before.authorities, signs) != nil && !stale.serves(tc.now, tc.names) {
		t.Error("a new authority signs before clients trust the authority")
	}
	if again, _ := renewed(t, data, tc.now, tc.names...); !cmp.Equal(data, again) {
		t.Error("a second call changes the result of the first")
	}
}

// At every time within nineteen years, clients that received the bundle in the preceding hour accept the current
// certificate. Clients with the current bundle accept the certificate of a replica that missed the last change.
func TestNoBundleIsLate(t *testing.T) {
	var data map[string][]byte
	bundles, authorities := map[time.Time][]byte{}, map[string]bool{}
	var before content
	now := start
	for now.Before(start.AddDate(19, 0, 0)) {
		var next time.Time
		data, next = renewed(t, data, now, name)
		bundles[now] = data[bundleKey]
		for _, a := range read(data).authorities {
			authorities[a.certificate.SerialNumber.String()] = true
		}
		for of, bundle := range bundles {
			if now.Sub(of) >= settled {
				delete(bundles, of)
				continue
			}
			stale := content{authorities: read(map[string][]byte{bundleKey: bundle}).authorities, serving: read(data).serving}
			if !stale.serves(now, []string{name}) {
				t.Fatalf("%v after the start: clients with the bundle of %v before do not accept the certificate", now.Sub(start), now.Sub(of))
			}
		}
		if late := (content{authorities: read(data).authorities, serving: before.serving}); late.serving != nil &&
			now.Before(late.serving.Leaf.NotAfter) && !late.serves(now, []string{name}) {
			t.Fatalf("%v after the start: clients do not accept the certificate that another replica still serves", now.Sub(start))
		}
		before = read(data)
		if now = now.Add(10 * day); next.Before(now) {
			now = next
		}
	}
	if len(authorities) != 3 { // A new authority follows after two thirds of the ten years of an authority.
		t.Errorf("there were %d authorities", len(authorities))
	}
}

// Authorities made in the same second have a fixed order, so that replicas do not overwrite each other's order.
func TestOrder(t *testing.T) {
	for range 10 {
		data, _ := renewed(t, without(made(t, start), authorityKeysKey), start, name)
		if again, _ := renewed(t, data, start, name); !cmp.Equal(data, again) {
			t.Fatal("a second call changes the result of the first")
		}
	}
}

// TestCertificates checks the usages, the names and the expiry times of the certificates.
func TestCertificates(t *testing.T) {
	found := read(made(t, start))
	authority, leaf := found.authorities[0].certificate, found.serving.Leaf
	for what, got := range map[string]bool{
		"the authority can sign certificates":   authority.KeyUsage&x509.KeyUsageCertSign != 0,
		"the authority cannot sign authorities": authority.MaxPathLen == 0 && authority.MaxPathLenZero,
		"the certificate cannot sign":           !leaf.IsCA && leaf.KeyUsage == x509.KeyUsageDigitalSignature,
		"the certificate is only for servers": slices.Equal(leaf.ExtKeyUsage,
			[]x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}),
		"the certificate has the names":   slices.Equal(leaf.DNSNames, []string{name}),
		"the certificate expires in time": leaf.NotAfter.Equal(start.Add(servingLife)),
		"the authority expires in time":   authority.NotAfter.Equal(start.Add(authorityLife)),
	} {
		if !got {
			t.Errorf("this is not true: %s", what)
		}
	}
}

// A name that is too long for the subject is still in the certificate.
func TestLongName(t *testing.T) {
	long := "webhook.namespace-with-sixty-three-characters-namespace-with-sixty-three.svc"
	data, _ := renewed(t, nil, start, long)
	if !read(data).serves(start, []string{long}) {
		t.Error("clients do not accept the certificate")
	}
}

// Whatever the Secret contains, the renewal does not panic, and repairs the content.
func FuzzRenew(f *testing.F) {
	wanted, _, err := renew(content{}, start, []string{name})
	if err != nil {
		f.Fatal(err)
	}
	data, err := wanted.data()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data[corev1.TLSCertKey], data[corev1.TLSPrivateKeyKey], data[bundleKey], data[authorityKeysKey], int64(0))
	f.Add(data[bundleKey], data[authorityKeysKey], data[corev1.TLSCertKey], []byte("x"), int64(70*24*3600))
	f.Fuzz(func(t *testing.T, certificate, key, bundle, keys []byte, seconds int64) {
		now := start.Add(time.Duration(seconds%int64(authorityLife/time.Second)) * time.Second)
		data, _ := renewed(t, map[string][]byte{
			corev1.TLSCertKey: certificate, corev1.TLSPrivateKeyKey: key, bundleKey: bundle, authorityKeysKey: keys,
		}, now, name)
		if !read(data).serves(now, []string{name}) {
			t.Error("clients that trust the bundle do not accept the certificate")
		}
	})
}
