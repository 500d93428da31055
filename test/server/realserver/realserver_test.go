//go:build server

package realserver

import (
	"strings"
	"testing"
)

const small = `version: 2
image_name: small
distro_name: small
apis: [inference]
providers:
  inference:
  - provider_id: openai
    provider_type: remote::openai
    config: {api_key: "${env.KEY}"}
storage:
  backends:
    kv_default: {type: kv_sqlite, db_path: "${env.DIR:=~}/kv.db"}
    sql_default: {type: sql_sqlite, db_path: "${env.DIR:=~}/sql.db"}
  stores:
    metadata: {namespace: registry, backend: kv_default}
    inference: {table_name: inference_store, backend: sql_default}
    conversations: {table_name: conversations, backend: sql_default}
server: {insecure: true}
`

// TestChecker shows that the tiers Parse and Initialize accept a valid configuration and reject invalid configurations,
// in the oldest and in the newest form of the server's package.
func TestChecker(t *testing.T) {
	releases := []string{"0.3.5", "1.5.0"}
	Once(t, releases, func() { checkTiers(t, releases) })
}

func checkTiers(t *testing.T, releases []string) {
	t.Helper()
	support, err := InstallSupport(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, release := range releases {
		checker, err := NewChecker(t.Context(), release, support)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(checker.Close)
		good := small
		for _, tc := range []struct {
			name, config, key, phase, message string
		}{
			{name: "good", config: good, key: "some-key"},
			{
				name: "a number as a credential", config: good, key: "12345", phase: "provider inference/openai",
				message: "api_key",
			},
			{name: "unset variable", config: good, phase: "top level", message: "KEY"},
			{
				name: "unknown type", config: strings.Replace(good, "remote::openai", "remote::opanai", 1), key: "some-key",
				phase: "providers", message: "remote::opanai",
			},
			{
				name: "port", config: strings.Replace(good, "insecure: true", "port: 80", 1), key: "some-key", phase: "top level",
				message: "port",
			},
		} {
			for _, tier := range []Tier{Parse, Initialize} {
				got, err := checker.Check(t.Context(), Request{
					Tier: tier, Config: tc.config,
					Env: map[string]string{"KEY": tc.key},
				})
				if err != nil {
					t.Fatal(err)
				}
				if got.OK != (tc.phase == "") || got.Phase != tc.phase || !strings.Contains(got.Message, tc.message) {
					t.Errorf("%s, %s, %s: %v", release, tc.name, tier, got)
				}
			}
		}
	}
}

// TestCheckerIsRenewed shows that Check returns a verdict when the process exits, and that the next call receives an
// answer from a new process.
func TestCheckerIsRenewed(t *testing.T) {
	const release = "0.7.3"
	Once(t, []string{release}, func() { checkRenewal(t, release) })
}

func checkRenewal(t *testing.T, release string) {
	t.Helper()
	support, err := InstallSupport(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	checker, err := NewChecker(t.Context(), release, support)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(checker.Close)
	request := Request{Tier: Parse, Config: small, Env: map[string]string{"KEY": "some-key"}}
	for range 2 {
		if got, err := checker.Check(t.Context(), request); err != nil || !got.OK {
			t.Fatalf("got %v, %v", got, err)
		}
		checker.kill()
		if got, err := checker.Check(t.Context(), request); err != nil || got.OK || got.Phase != "process" {
			t.Fatalf("after the process ended: got %v, %v", got, err)
		}
	}
}
