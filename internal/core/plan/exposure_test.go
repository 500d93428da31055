package plan_test

import (
	"cmp"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/cabundle"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// Unexpected effects of an exposure cause warnings with a remedy.
func TestExposureWarnings(t *testing.T) {
	const (
		https    = "tls: {enabled: true, secretName: cert}, "
		settings = `, settings: {server: {auth: {provider_config: {type: custom, endpoint: "http://auth"}}}}`
	)
	gateway := render.Cluster{Gateway: &render.Gateway{Name: "gw", Namespace: "infra"}, HTTPRoutes: true}
	for name, tc := range map[string]struct {
		networking, rest string
		cluster          render.Cluster
		want             []string
	}{
		"not exposed": {networking: https + "expose: false"},
		"plain HTTP without authentication": {
			networking: "expose: {hostname: a.example.com}",
			want:       []string{"over plain HTTP without authentication"},
		},
		"plain HTTP with authentication": {networking: "expose: {hostname: a.example.com}", rest: settings},
		"HTTPS outside":                  {networking: "expose: {hostname: a.example.com, tlsSecretName: t}"},
		"generated name":                 {networking: "expose: {tlsSecretName: t}", want: []string{".llama-stack.internal\", which has no DNS record"}},
		"HTTPS inside":                   {networking: https + "expose: {hostname: a.example.com, ingressClassName: nginx}"},
		"HTTPS, default class":           {networking: https + "expose: {hostname: a.example.com}"},
		"HTTPS, unknown class":           {networking: https + "expose: {hostname: a.example.com, ingressClassName: mine}", want: []string{`the operator does not set an annotation that makes the controller of ingress class "mine" connect to the server over HTTPS`}},
		"HTTPS, Traefik": {networking: https + "expose: {hostname: a.example.com, ingressClassName: traefik}", want: []string{
			"create a traefik.io/v1alpha1 ServersTransport in namespace \"team-a\"; set its serverName to a name in the certificate, and add to its rootCAs a Secret " +
				"that contains the CA certificate under ca.crt; then run kubectl annotate service demo-service --namespace team-a " +
				"traefik.ingress.kubernetes.io/service.serverstransport=team-a-NAME@kubernetescrd, where NAME is the name of the ServersTransport",
		}},
		"HTTPS behind a Gateway": {
			networking: https + "expose: {hostname: a.example.com}", cluster: gateway,
			want: []string{"the cluster does not serve version v1 of BackendTLSPolicy"},
		},
		"HTTP behind a Gateway": {networking: "expose: {hostname: a.example.com}", cluster: gateway},
		"HTTPS by a Route": {
			networking: https + "expose: {hostname: a.example.com}",
			cluster:    render.Cluster{Routes: true},
		},
	} {
		in := input(t, "networking: {"+tc.networking+"}"+strings.Replace(tc.rest, ", settings", "\nsettings", 1))
		in.Cluster = tc.cluster
		var got []string
		for _, warning := range build(t, in).Warnings {
			if warning.Path == "spec.networking.expose" {
				got = append(got, warning.Message)
			}
		}
		if len(got) != len(tc.want) {
			t.Errorf("%s: warnings %q, want %q", name, got, tc.want)
			continue
		}
		for i, want := range tc.want {
			if !strings.Contains(got[i], want) {
				t.Errorf("%s: warning %q, want %q in it", name, got[i], want)
			}
		}
	}
}

// A v1alpha1 stack has a NetworkPolicy only with the operator's flag. Without it, a warning states that allowedFrom
// has no effect, unless it allows everyone.
func TestAllowedFromWithoutAPolicy(t *testing.T) {
	for name, tc := range map[string]struct {
		namespaces  string
		older, flag bool
		want        bool
	}{
		"v1alpha1":               {namespaces: "a", older: true, want: true},
		"v1alpha1 with the flag": {namespaces: "a", older: true, flag: true},
		"v1alpha1, everyone":     {namespaces: "'*'", older: true},
		"v1alpha2":               {namespaces: "a"},
	} {
		in := input(t, "networking: {allowedFrom: {namespaces: ["+tc.namespaces+"]}}\n")
		in.Cluster.NetworkPolicies = tc.flag
		if tc.older {
			in.Object.Annotations = map[string]string{names.AnnotationCompat: names.CompatV1Alpha1}
		}
		got := slices.ContainsFunc(build(t, in).Warnings, func(found stackconfig.Finding) bool {
			return found.Path == "spec.networking.allowedFrom"
		})
		if got != tc.want {
			t.Errorf("%s: warning %t", name, got)
		}
	}
}

// backendTLSCase is a case of TestBackendTLS.
type backendTLSCase struct {
	spec, override   string
	chain, authority []byte
	hostname, data   string
	warning          string
}

// A Gateway connects to the server over HTTPS with values from the Secret of the server's certificate. If a value is
// missing, the user gets a warning.
func TestBackendTLS(t *testing.T) {
	const inside = "demo-service.team-a.svc"
	authority := testutil.CertificateFor(t, "ca")
	certificate, key := testutil.NewCertificate(t, time.Now().Add(time.Hour), inside)
	public, err := os.ReadFile("../cabundle/testdata/public.pem")
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]backendTLSCase{
		"the name in the cluster": {chain: certificate, authority: authority, hostname: inside, data: string(authority)},
		"the external name": {
			chain: testutil.CertificateFor(t, "x.example.com", "*.example.com"), authority: authority,
			hostname: "llama.example.com",
			data:     string(authority),
		},
		"the name of status.serviceURL": {
			chain: testutil.CertificateFor(t, inside, inside+".cluster.local"), authority: authority, hostname: inside + ".cluster.local",
			data: string(authority),
		},
		"a public certificate": {
			spec:  "networking: {tls: {enabled: true, secretName: cert}, expose: {hostname: www.google.com}}",
			chain: public, hostname: "www.google.com",
		},
		"no authority": {chain: certificate, warning: `the authority that issued the server's certificate is unknown: add the key "ca.crt" to Secret "cert", ` +
			`with the CA certificate in PEM format (for a self-signed certificate, the same certificate as in "tls.crt")`},
		"a key instead of an authority": {chain: certificate, authority: key, warning: `key "ca.crt" of Secret "cert" contains something other than a certificate ` +
			"at line 1: store only the CA certificate in this key"},
		"text instead of an authority": {chain: certificate, authority: []byte("hello"), warning: `key "ca.crt" of Secret "cert" contains no certificate in PEM format; ` +
			"store a CA certificate in this key"},
		"another name": {chain: testutil.CertificateFor(t, "x.example.org"), authority: authority, warning: `the certificate in Secret "cert" ` +
			"is not valid for any of the server's names: issue a certificate for demo-service.team-a.svc.cluster.local, demo-service.team-a.svc or llama.example.com"},
		"a Secret that was not read": {},
		"a certificate of the configuration": {
			spec:     "overrideConfig: {configMapName: mine}\nnetworking: {expose: {hostname: llama.example.com}}",
			override: "version: 2\ndistro_name: a\nproviders: {}\nserver: {tls_certfile: /a, tls_keyfile: /b}\n",
			warning: `create a BackendTLSPolicy for Service "demo-service" with the certificate of the authority ` +
				"that issued the server's certificate, and a host name that the server's certificate contains",
		},
		"plain HTTP":  {spec: "networking: {expose: {hostname: llama.example.com}}"},
		"not exposed": {spec: "networking: {tls: {enabled: true, secretName: cert}}", chain: certificate, authority: authority},
	} {
		tc.check(t, name)
	}
}

func (tc backendTLSCase) check(t *testing.T, name string) {
	t.Helper()
	const (
		path     = "spec.networking.expose"
		needs    = "the server uses HTTPS, but a Gateway connects to it over plain HTTP until a BackendTLSPolicy specifies otherwise; "
		fromSpec = "networking: {tls: {enabled: true, secretName: cert}, expose: {hostname: llama.example.com}}"
	)
	in := input(t, cmp.Or(tc.spec, fromSpec))
	in.Cluster = render.Cluster{
		Gateway: &render.Gateway{Name: "gw", Namespace: "infra"}, HTTPRoutes: true,
		BackendTLSPolicies: true,
	}
	if tc.override != "" {
		in.Override = &plan.Override{ConfigMapName: "mine", Key: "config.yaml", Data: []byte(tc.override)}
	}
	if tc.chain != nil {
		in.Serving = cabundle.NewServing(tc.chain, tc.authority)
	}
	built := build(t, in)
	hostname, data := backendOf(t, built)
	if hostname != tc.hostname || data != tc.data {
		t.Errorf("%s: host name %q, authorities %q; want %q, %q", name, hostname, data, tc.hostname, tc.data)
	}
	var got []string
	for _, warning := range built.Warnings {
		if warning.Path == path {
			got = append(got, warning.Message)
		}
	}
	var want []string
	if tc.warning != "" {
		want = []string{needs + tc.warning}
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("%s: warnings (-want +got):\n%s", name, diff)
	}
}

// backendOf returns the host name in a plan's BackendTLSPolicy, and the certificate authorities in its ConfigMap.
func backendOf(t *testing.T, built *plan.Plan) (hostname, authorities string) {
	t.Helper()
	for _, object := range built.Objects {
		sent, err := render.Unstructured(object)
		if err != nil {
			t.Fatal(err)
		}
		if object.GVK == render.BackendTLSPolicyKind {
			hostname, _, _ = unstructured.NestedString(sent.Object, "spec", "validation", "hostname")
		}
		if strings.HasSuffix(object.Name, "-server-ca") {
			authorities, _, _ = unstructured.NestedString(sent.Object, "data", "ca.crt")
		}
	}
	return hostname, authorities
}
