package stackconfig_test

import (
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig"
)

// TestInferenceStore checks that the configuration of a 0.3 server contains the store for the inference API, because
// the server does not start without the store (server fact 49). A server that does not serve the API does not need the
// store.
func TestInferenceStore(t *testing.T) {
	const two = `storage:
  backends: {kv_default: {type: kv_sqlite, db_path: /d/kv.db}, sql_default: {type: sql_sqlite, db_path: /d/sql.db}}
  stores:
    metadata: {namespace: registry, backend: kv_default}
    conversations: {table_name: openai_conversations, backend: sql_default}
`
	const added, agents = "table_name: inference_store", `  agents:
  - provider_id: a
    provider_type: inline::meta-reference
    config:
      persistence:
        agent_state: {namespace: a, backend: kv_default}
        responses: {table_name: r, backend: sql_default}
`
	for name, tc := range map[string]struct {
		line, base, spec string
		want, not        string
	}{
		"every API is served":            {"0.3", "image_name: d\nproviders: {}\n" + two, "{}", added, "\x00"},
		"inference is listed":            {"0.3", "image_name: d\napis: [inference]\nproviders: {}\n" + two, "{}", added, "\x00"},
		"an empty list serves every API": {"0.3", "image_name: d\napis: []\nproviders: {}\n" + two, "{}", added, "\x00"},
		"inference is not listed": {
			"0.3", "image_name: d\napis: [safety]\nproviders: {}\n" + two, "{}", "openai_conversations", added,
		},
		"a provider requires inference": {
			"0.3", "image_name: d\napis: [agents]\nproviders:\n" + agents + two, "{}", added, "\x00",
		},
		"a later release has a default": {"0.5", "image_name: d\nproviders: {}\n" + two, "{}", "openai_conversations", added},
	} {
		t.Run(name, func(t *testing.T) {
			result, report := stackconfig.Generate(stackconfig.Input{
				Intent:  readIntent(t, []byte("metadata: {name: demo}\nspec: "+tc.spec)),
				Base:    parseBase(t, []byte(tc.base)),
				Release: mustRelease(t, tc.line),
			})
			got := intent.Messages(report.Errors)
			if result != nil {
				got += string(result.Config)
			}
			if !strings.Contains(got, tc.want) || strings.Contains(got, tc.not) {
				t.Errorf("want %q and not %q:\n%s", tc.want, tc.not, got)
			}
		})
	}
}
