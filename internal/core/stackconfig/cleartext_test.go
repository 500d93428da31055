package stackconfig_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/baseconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

// Credentials are found by the schema of their provider and by their names. Each is reported once, without its value.
func TestClearText(t *testing.T) {
	const canary = "canary-91b2"
	for name, tc := range map[string]struct {
		base string
		want []string
	}{
		"none": {base: "apis: [inference]\n"},
		"by schema and by name": {
			base: "providers: {inference: [{provider_id: a, provider_type: remote::openai, config: {api_key: %}}]}\n",
			want: []string{"providers.inference[0].config.api_key"},
		},
		"in the second provider": {
			base: "providers: {inference: [{provider_id: a, provider_type: remote::openai, config: {}}, {provider_id: b, provider_type: remote::vllm, config: {api_token: %}}]}\n",
			want: []string{"providers.inference[1].config.api_token"},
		},
		"by name, of an unknown type": {
			base: "providers: {inference: [{provider_id: a, provider_type: remote::own, config: {client_secret: %, tokens: %}}]}\n",
			want: []string{"providers.inference[0].config.client_secret"},
		},
		"outside providers": {
			base: "storage: {backends: {sql: {type: sql_postgres, password: %}}}\nlist: [{token: %}]\n",
			want: []string{"list[0].token", "storage.backends.sql.password"},
		},
		"variables and empty values": {
			base: "providers: {inference: [{provider_id: a, provider_type: remote::openai, config: {api_key: '${env.KEY:=%}'}}, " +
				"{provider_id: b, provider_type: remote::vllm, config: {api_token: ''}}]}\npassword: null\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			base, err := baseconfig.Parse([]byte(strings.ReplaceAll(tc.base, "%", canary)))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, finding := range stackconfig.ClearText(base, release.Default()) {
				got = append(got, finding.ConfigPath)
				if strings.Contains(finding.String(), canary) || !strings.Contains(finding.Message, "${env.NAME}") {
					t.Errorf("%s", finding)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestClearTextIsBounded(t *testing.T) {
	var text strings.Builder
	for i := range 2 * intent.MaxErrors {
		fmt.Fprintf(&text, "a%d: {token: x}\n", i)
	}
	base, err := baseconfig.Parse([]byte(text.String()))
	if err != nil {
		t.Fatal(err)
	}
	if got := stackconfig.ClearText(base, release.Default()); len(got) != intent.MaxErrors {
		t.Errorf("%d findings", len(got))
	}
}
