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

// Configuration returns the directories that nothing creates. TestOverride checks the findings.
func TestConfiguration(t *testing.T) {
	base, err := baseconfig.Parse([]byte("{distro_name: mine, storage: {backends: {" +
		"kv_default: {type: kv_sqlite, db_path: /a/kv.db}, sql_default: {type: sql_sqlite, db_path: /b/sql.db}}}}"))
	if err != nil {
		t.Fatal(err)
	}
	d := draft.New(base, &intent.Intent{}, release.Default(), "")
	d.Published = true
	draft.Resolve(d)
	if diff := cmp.Diff([]string{"/b"}, check.Configuration(d, nil)); diff != "" {
		t.Errorf("directories (-want +got):\n%s", diff)
	}
	if report := d.Finish(); len(report.Errors) > 0 {
		t.Errorf("errors: %v", report.Errors)
	}
}
