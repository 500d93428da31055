package check_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/baseconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/check"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/draft"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

func TestConfiguration(t *testing.T) {
	for name, tt := range map[string]struct {
		base        string
		directories []string
		errors      []string
	}{
		"nothing wrong": {base: "server: {port: 8321}"},
		"a variable": {base: "server: {port: '${env.MY_PORT}'}", errors: []string{
			"server.port: the variable MY_PORT is not set, and the server does not start without it: " +
				"set it in spec.secretEnv or spec.workload.overrides.env (in the base configuration)",
		}},
		"an API": {base: "apis: [infrence]", errors: []string{
			`apis[0]: server release 0.7 has no API "infrence"; correct or remove this entry (in the base configuration)`,
		}},
		"a directory": {
			base:        "storage: {backends: {kv_default: {type: kv_sqlite, db_path: /a/kv.db}, sql_default: {type: sql_sqlite, db_path: /b/sql.db}}}",
			directories: []string{"/b"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			base, err := baseconfig.Parse([]byte("distro_name: mine\n" + tt.base))
			if err != nil {
				t.Fatal(err)
			}
			d := draft.New(base, &intent.Intent{}, release.Default(), "")
			d.Published = true
			draft.Resolve(d)
			directories := check.Configuration(d, nil)
			if diff := cmp.Diff(tt.directories, directories); diff != "" {
				t.Errorf("directories (-want +got):\n%s", diff)
			}
			var errors []string
			for _, err := range d.Finish().Errors {
				errors = append(errors, intent.Message(err))
			}
			if diff := cmp.Diff(tt.errors, errors); diff != "" {
				t.Errorf("errors (-want +got):\n%s", diff)
			}
		})
	}
}
