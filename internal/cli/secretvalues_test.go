package cli_test

import (
	"strings"
	"testing"
)

// The values of Secrets in the files are checked as in a cluster, and no message contains a value.
func TestSecretValuesInFiles(t *testing.T) {
	const postgres = `{distribution: {name: starter, version: "0.7"}, providers: {inference: {provider: vllm, endpoint: "http://vllm:8000"}}, ` +
		`storage: {sql: {type: postgres, connectionString: {secretKeyRef: {name: db, key: url}}}}}`
	for value, want := range map[string]string{
		"postgresql://u:hidden@pg/d":                 "",
		"postgresql://u@pg:5432/d":                   "the password is empty; set a value",
		"postgresql://u:hid/den@pg/d":                "percent-encode the characters @ / : # ? % [ ]",
		"postgresql://u:hid@den@pg/d":                "percent-encode the characters @ / : # ? % [ ]",
		"postgresql://u:hidden@pg/d?sslmode=require": "use server release 1.4 or later, or set sslmode=prefer",
		"postgresql://u:12345@pg/d":                  "the password looks like a number",
	} {
		secret := "---\napiVersion: v1\nkind: Secret\nmetadata: {name: db}\nstringData: {url: '" + value + "'}\n"
		got := run(t, stack(postgres)+secret, "validate", "-f", "-")
		if (got.code != 0) != (want != "") || !strings.Contains(got.err, want) || strings.Contains(got.err, "hid") {
			t.Errorf("%s: exit code %d, want %q:\n%s", value, got.code, want, got.err)
		}
	}
	const tls = `{distribution: {name: starter}, networking: {tls: {enabled: true, secretName: cert}}}`
	secret := "---\napiVersion: v1\nkind: Secret\nmetadata: {name: cert}\nstringData: {tls.crt: a, tls.key: b}\n"
	got := run(t, stack(tls)+secret, "validate", "-f", "-")
	if want := `Secret "cert" in namespace "default" has the type ""; create the Secret again with the type kubernetes.io/tls`; got.code == 0 || !strings.Contains(got.err, want) {
		t.Errorf("exit code %d, want %q:\n%s", got.code, want, got.err)
	}
}
