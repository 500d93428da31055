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
	for name, tc := range map[string]struct {
		base, spec string
		// errors and warnings are the total numbers.
		errors, warnings int
		kind             field.ErrorType
	}{
		"errors of the base": {base: "apis:\n" + numbered(250, "- a%d"), errors: 250, kind: field.ErrorTypeInvalid},
		"as many as are reported": {
			base: "apis:\n" + numbered(intent.MaxErrors, "- a%d"), errors: intent.MaxErrors, kind: field.ErrorTypeInvalid,
		},
		"warnings of the settings": {spec: ", settings: {" + strings.ReplaceAll(numbered(250, "unknown_%d: 1,"), "\n", " ") +
			"}", warnings: 250},
		"models without a provider": {
			base:   "providers: {inference: []}\n",
			spec:   ", resources: {models: [" + strings.ReplaceAll(numbered(250, "{name: m%d, provider: p},"), "\n", " ") + "]}",
			errors: 250, kind: field.ErrorTypeNotFound,
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, report := stackconfig.Generate(stackconfig.Input{
				Intent: readIntent(t, []byte(emptySpec+tc.spec+"}")), Base: parseBase(t, []byte("version: 2\n"+tc.base)),
				Release: release.Default(),
			})
			if want := min(tc.errors, intent.MaxErrors+1); len(report.Errors) != want {
				t.Fatalf("%d errors, want %d:\n%s", len(report.Errors), want, intent.Messages(report.Errors))
			}
			if want := min(tc.warnings, intent.MaxErrors+1); len(report.Warnings) != want {
				t.Fatalf("%d warnings, want %d: %v", len(report.Warnings), want, report.Warnings)
			}
			for _, err := range report.Errors {
				if err.Type != tc.kind {
					t.Errorf("%s is of type %s, want %s", intent.Message(err), err.Type, tc.kind)
				}
			}
			if more := tc.errors - intent.MaxErrors; more > 0 {
				if got, want := intent.Message(report.Errors[intent.MaxErrors]), fmt.Sprintf("and %d more",
					more); got != want {
					t.Errorf("the last error is %q, want %q", got, want)
				}
			}
			if more := tc.warnings - intent.MaxErrors; more > 0 {
				if got, want := report.Warnings[intent.MaxErrors].String(), fmt.Sprintf("and %d more", more); got != want {
					t.Errorf("the last warning is %q, want %q", got, want)
				}
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
