package cabundle_test

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/cabundle"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

func certificate(t testing.TB) (text, key string) {
	t.Helper()
	certificatePEM, keyPEM := testutil.NewCertificate(t, time.Now().Add(time.Hour))
	return string(certificatePEM), string(keyPEM)
}

func TestRead(t *testing.T) {
	one, key := certificate(t)
	two, _ := certificate(t)
	lines := strings.Count(one, "\n")
	garbled := strings.Replace(one, "MII", "AAA", 1)
	cut := one[:len(one)/2] + "\n"
	for name, tc := range map[string]struct {
		text  string
		count int
		want  []string
	}{
		"one":                    {one, 1, nil},
		"with comments":          {"# Company root\n" + one + "\nSubject: x\n" + two, 2, nil},
		"Windows line ends":      {strings.ReplaceAll(one, "\n", "\r\n"), 1, nil},
		"white space only":       {" \n", 0, nil},
		"not PEM":                {"hello", 0, []string{"contains no certificate in PEM format; store a CA certificate in this key"}},
		"a private key":          {one + key, 1, []string{"line " + strconv.Itoa(lines+1) + ": is a private key, which anyone who can read the ConfigMap can use: remove it, and issue a new key"}},
		"incomplete first block": {cut + two, 1, []string{"line 1: is not a complete PEM block: complete or remove this block"}},
		"incomplete last block":  {"\n\n" + cut, 0, []string{"line 3: is not a complete PEM block: complete or remove this block"}},
		"no certificate":         {garbled, 0, []string{"line 1: is not a valid certificate (malformed certificate): replace or remove this certificate"}},
		"another block":          {"-----BEGIN X509 CRL-----\nAAAA\n-----END X509 CRL-----\n" + one, 1, []string{`line 1: is a PEM block of type "X509 CRL", not a certificate: remove this block`}},
		"several mistakes": {key + one + key, 1, []string{
			"line 1: is a private key, which anyone who can read the ConfigMap can use: remove it, and issue a new key",
			"line " + strconv.Itoa(strings.Count(key+one, "\n")+1) + ": is a private key, which anyone who can read the ConfigMap can use: remove it, and issue a new key",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			found, problems := cabundle.Read([]byte(tc.text))
			var got []string
			for _, problem := range problems {
				got = append(got, problem.String())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" || len(found) != tc.count {
				t.Errorf("%d certificates, want %d; problems (-want +got):\n%s", len(found), tc.count, diff)
			}
		})
	}
}

// TestReadManyBlocks checks that the time for a text does not grow with the square of the number of its blocks, which
// would be many times the limit here, and that the lines are right. A ConfigMap of a tenant can hold 90,000 blocks.
func TestReadManyBlocks(t *testing.T) {
	const blocks = 600_000
	text, began := []byte(strings.Repeat("-----BEGIN \n", blocks)), time.Now()
	if _, problems := cabundle.Read(text); len(problems) != blocks || problems[blocks-1].Line != blocks {
		t.Fatalf("%d problems, want %d", len(problems), blocks)
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("%d blocks take %v", blocks, took)
	}
}

// An empty key is ignored, as long as another key has content.
func TestKeys(t *testing.T) {
	one, _ := certificate(t)
	content := map[string][]byte{"one": []byte(one), "empty": nil, "bad": []byte("x")}
	for _, tc := range []struct {
		keys  []string
		count int
		bad   string
	}{
		{[]string{"one", "empty"}, 1, ""},
		{[]string{"empty"}, 0, "empty"},
		{[]string{"one", "bad"}, 1, "bad"},
	} {
		found, problems := cabundle.Keys(tc.keys, content)
		if len(found) != tc.count || (tc.bad != "") != (len(problems[tc.bad]) == 1) || len(problems) > 1 {
			t.Errorf("%v: %d certificates, problems %v", tc.keys, len(found), problems)
		}
	}
}

// A block that is not a certificate can be left out if the text also contains a certificate. An unreadable certificate
// and a text without any certificate cannot be left out.
func TestLeaveOut(t *testing.T) {
	one, key := certificate(t)
	trusted := strings.ReplaceAll(one, " CERTIFICATE", " TRUSTED CERTIFICATE")
	garbled := strings.Replace(one, "MII", "AAA", 1)
	content := map[string][]byte{
		"good": []byte(one), "stray": []byte(one + key + trusted), "keyOnly": []byte(key), "text": []byte("x"),
		"damaged": []byte(one + garbled), "cut": []byte(one[:len(one)/2] + "\n" + one),
	}
	keys := slices.Sorted(maps.Keys(content))
	found, all := cabundle.Keys(keys, content)
	problems, left := cabundle.LeaveOut(content, all)
	count := func(of map[string][]cabundle.Problem) map[string]int {
		counts := map[string]int{}
		for key, found := range of {
			counts[key] = len(found)
		}
		return counts
	}
	if diff := cmp.Diff(map[string]int{"stray": 2, "cut": 1}, count(left)); diff != "" {
		t.Errorf("left out (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]int{"keyOnly": 1, "text": 1, "damaged": 1}, count(problems)); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	if len(found) != 4 {
		t.Errorf("%d certificates, want those of four keys", len(found))
	}
}

// The bundle does not depend on the order of the certificates. Every certificate in the bundle can be used, including
// the public root certificates that PEM adds.
func TestPEM(t *testing.T) {
	one, _ := certificate(t)
	two, _ := certificate(t)
	first, _ := cabundle.Read([]byte(one + two))
	second, _ := cabundle.Read([]byte(two + one + two))
	bundle := cabundle.PEM(first)
	if !bytes.Equal(bundle, cabundle.PEM(second)) || cabundle.Digest(first) != cabundle.Digest(second) {
		t.Error("the order or the number of copies of a certificate changes the bundle")
	}
	if cabundle.Digest(first) == cabundle.Digest(first[:1]) {
		t.Error("the digest is the same with a different certificate")
	}
	all, problems := cabundle.Read(bundle)
	if len(problems) > 0 || len(all) < 100 {
		t.Fatalf("%d certificates, problems %v", len(all), problems)
	}
	for _, wanted := range first {
		if !slices.ContainsFunc(all, func(c []byte) bool { return bytes.Equal(c, wanted) }) {
			t.Error("one of the user's certificates is missing")
		}
	}
	if pool := x509.NewCertPool(); !pool.AppendCertsFromPEM(bundle) {
		t.Error("the bundle cannot be added to a certificate pool")
	}
	if limit := 512 << 10; len(bundle) > limit {
		t.Errorf("the bundle has %d bytes, which leaves too little room for the user's certificates in a ConfigMap", len(bundle))
	}
}

// FuzzRead checks that no input causes a panic, and that only certificates are accepted.
func FuzzRead(f *testing.F) {
	one, key := certificate(f)
	for _, seed := range []string{"", one, one + key, "-----BEGIN ", "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----", one[:100] + one} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		found, problems := cabundle.Read(text)
		if len(found)+len(problems) == 0 && len(bytes.TrimSpace(text)) > 0 {
			t.Error("the result has neither a certificate nor a problem")
		}
		for _, der := range found {
			if _, err := x509.ParseCertificate(der); err != nil {
				t.Error(err)
			}
		}
		for _, problem := range problems {
			if block, _ := pem.Decode(text); block != nil && len(block.Bytes) > 20 &&
				strings.Contains(problem.Detail, string(block.Bytes)) {
				t.Error("a problem contains the content")
			}
		}
	})
}
