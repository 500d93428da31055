package cabundle_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/cabundle"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

func TestServingHostname(t *testing.T) {
	const inside, outside = "my.ns.svc", "llama.example.com"
	for name, tc := range map[string]struct {
		names, wanted []string
		want          string
	}{
		"both names, so the first": {[]string{outside, inside}, []string{inside, outside}, inside},
		"only the second name":     {[]string{outside}, []string{inside, outside}, outside},
		"a wildcard":               {[]string{"*.example.com"}, []string{inside, outside}, outside},
		"no name in common":        {[]string{"other.example.com"}, []string{inside, outside}, ""},
		"no name":                  {nil, []string{inside}, ""},
		"no requested name":        {[]string{"other.example.com"}, []string{""}, ""},
	} {
		if got := cabundle.NewServing(testutil.CertificateFor(t, tc.names...), nil).Hostname(tc.wanted...); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

// AuthoritiesPEM returns only certificates. If the text is invalid, for example because it contains a private key,
// AuthoritiesPEM returns nothing, and Problem is set.
func TestServingAuthorities(t *testing.T) {
	chain, key := testutil.NewCertificate(t, time.Now().Add(time.Hour))
	authority, _ := testutil.NewCertificate(t, time.Now().Add(time.Hour))
	for name, tc := range map[string]struct {
		text, want string
		problem    *cabundle.Problem
	}{
		"none": {},
		"one":  {text: string(authority), want: string(authority)},
		"one with text, twice": {
			text: "# ours\n" + string(authority) + "secret\n" + string(authority),
			want: string(authority),
		},
		"next to a key":  {text: string(authority) + string(key), problem: &cabundle.Problem{Line: 1 + strings.Count(string(authority), "\n")}},
		"no certificate": {text: "hello", problem: &cabundle.Problem{}},
		"above the maximum length": {
			text: strings.Repeat(" ", cabundle.MaxAuthorities+1), problem: &cabundle.Problem{},
		},
		"maximum length": {text: string(authority) + strings.Repeat(" ", cabundle.MaxAuthorities-len(authority)), want: string(authority)},
		"white space, which is the same as empty": {text: " \n"},
	} {
		serving := cabundle.NewServing(chain, []byte(tc.text))
		if got := string(serving.AuthoritiesPEM()); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
		switch {
		case (serving.Problem == nil) != (tc.problem == nil):
			t.Errorf("%s: problem %v, want %v", name, serving.Problem, tc.problem)
		case tc.problem != nil && serving.Problem.Line != tc.problem.Line:
			t.Errorf("%s: line %d, want %d", name, serving.Problem.Line, tc.problem.Line)
		}
	}
	if got := cabundle.NewServing(key, authority); got != nil {
		t.Errorf("the result of a chain without a certificate is %+v", got)
	}
}

func TestServingPublic(t *testing.T) {
	// This is a certificate that was issued for www.google.com and expired in 2023, with the certificates that signed
	// it.
	public, err := os.ReadFile("testdata/public.pem")
	if err != nil {
		t.Fatal(err)
	}
	alone, _, _ := strings.Cut(string(public), "-----END CERTIFICATE-----")
	private, _ := testutil.NewCertificate(t, time.Now().Add(time.Hour))
	for name, tc := range map[string]struct {
		chain string
		want  bool
	}{
		"a public authority": {string(public), true},
		"a public authority without the intermediate certificates": {alone + "-----END CERTIFICATE-----\n", false},
		"a private certificate": {string(private), false},
	} {
		if got := cabundle.NewServing([]byte(tc.chain), nil).Public(); got != tc.want {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}
