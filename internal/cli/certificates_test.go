package cli_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// render creates the BackendTLSPolicy from the Secret in the files. Without the Secret, a note names the objects that
// the output does not contain.
func TestRenderBackendTLSPolicy(t *testing.T) {
	file := operatorConfig(t, "  gateway: '{name: public, namespace: gateways}'\n")
	exposed := stack("{distribution: {name: starter}, networking: {tls: {enabled: true, secretName: cert}, expose: {hostname: llama.example.com}}}")
	secret := func(authority []byte, names ...string) string {
		encode := base64.StdEncoding.EncodeToString
		certificate, key := testutil.NewCertificate(t, time.Now().Add(time.Hour), names...)
		return fmt.Sprintf("---\napiVersion: v1\nkind: Secret\ntype: kubernetes.io/tls\nmetadata: {name: cert}\ndata: {tls.crt: %s, tls.key: %s, ca.crt: %q}\n",
			encode(certificate), encode(key), encode(authority))
	}
	const note = `note: standard input: demo: this command does not read the certificate in Secret "cert"; in a cluster, the operator creates BackendTLSPolicy ` +
		`"demo-backendtlspolicy" and ConfigMap "demo-server-ca" from the certificate and the ca.crt key in the Secret`
	authority := testutil.CertificateFor(t, "ca")
	for name, tc := range map[string]struct {
		secret, message string
		rendered        bool
	}{
		"no Secret": {message: note},
		"certificate without a name of the server": {secret: secret(authority), message: `the certificate in Secret "cert" is not valid for any of the server's names`},
		"Secret without an authority":              {secret: secret(nil), message: `add the key "ca.crt" to Secret "cert"`},
		"certificate and authority":                {secret: secret(authority, "demo-service.default.svc"), rendered: true},
	} {
		t.Run(name, func(t *testing.T) {
			got := run(t, exposed+tc.secret, "render", "-f", "-", "-o", "objects", "--operator-config", file)
			got.mustExit(t, 0)
			contains(t, got.err, tc.message)
			for _, want := range []string{"kind: BackendTLSPolicy\n", "name: demo-server-ca\n"} {
				if strings.Contains(got.out, want) != tc.rendered {
					t.Errorf("output contains %q: %v, want %v", want, !tc.rendered, tc.rendered)
				}
			}
		})
	}
}
