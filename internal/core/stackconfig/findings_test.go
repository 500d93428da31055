package stackconfig_test

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

// numbered returns `count` lines in the given format, each with its number.
func numbered(count int, format string) string {
	var b strings.Builder
	for i := range count {
		fmt.Fprintf(&b, format+"\n", i)
	}
	return b.String()
}

const emptySpec = "apiVersion: llamastack.io/v1alpha2\nkind: LlamaStackDistribution\nmetadata: {name: a}\nspec: {distribution: {name: starter}"

// If there are too many findings, only the first ones are reported, followed by the number of further findings.
func TestManyFindings(t *testing.T) {
	const most = intent.MaxErrors
	for name, tc := range map[string]struct {
		base, spec string
		total      int
		kind       field.ErrorType // empty for warnings
	}{
		"errors of the base":      {"apis:\n" + numbered(250, "- a%d"), "", 250, field.ErrorTypeInvalid},
		"as many as are reported": {"apis:\n" + numbered(most, "- a%d"), "", most, field.ErrorTypeInvalid},
		"warnings of the settings": {
			"", ", settings: {" + strings.ReplaceAll(numbered(250, "unknown_%d: 1,"), "\n", " ") + "}", 250, "",
		},
		"models without a provider": {
			"providers: {inference: []}\n",
			", resources: {models: [" + strings.ReplaceAll(numbered(250, "{name: m%d, provider: p},"), "\n", " ") + "]}",
			250, field.ErrorTypeNotFound,
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, report := stackconfig.Generate(stackconfig.Input{
				Intent: readIntent(t, []byte(emptySpec+tc.spec+"}")), Base: parseBase(t, []byte("version: 2\n"+tc.base)),
				Release: release.Default(),
			})
			var found []string
			for _, err := range report.Errors {
				found = append(found, intent.Message(err))
				if err.Type != tc.kind {
					t.Errorf("%s is of type %s, want %s", intent.Message(err), err.Type, tc.kind)
				}
			}
			for _, warning := range report.Warnings {
				found = append(found, warning.String())
			}
			if want := min(tc.total, most+1); len(found) != want || (len(report.Errors) == 0) != (tc.kind == "") {
				t.Fatalf("%d findings, want %d: %v", len(found), want, found)
			}
			want := fmt.Sprintf("and %d more", tc.total-most)
			if tc.total > most && found[most] != want {
				t.Errorf("the last finding is %q, want %q", found[most], want)
			}
		})
	}
}

// A message lists only some of many names.
func TestManyNames(t *testing.T) {
	base := "storage:\n  backends:\n" + numbered(30, "    b%02d: {type: kv_sqlite, db_path: /d}") + "  stores:\n    metadata: {namespace: a, backend: other}\n"
	_, report := stackconfig.Generate(stackconfig.Input{
		Intent: readIntent(t, []byte(emptySpec+"}")), Base: parseBase(t, []byte(base)), Release: release.Default(),
	})
	if got := intent.Messages(report.Errors); !strings.Contains(got, `"other" is not a backend in storage.backends; available: b00, b01`) ||
		!strings.Contains(got, ", b19 and 10 more") {
		t.Errorf("got\n%s", got)
	}
}
