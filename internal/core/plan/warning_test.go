package plan_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig"
)

func TestWarnings(t *testing.T) {
	ofSpec := []string{"spec.offline: a"}
	got := plan.Warnings(ofSpec, []stackconfig.Finding{
		{Path: "spec.offline", Message: "a"}, {Path: "spec.offline", Message: "b"}, {Path: "spec.offline", Message: "b"},
	})
	if diff := cmp.Diff([]string{"spec.offline: a", "spec.offline: b"}, got); diff != "" {
		t.Error(diff)
	}
	if len(ofSpec) != 1 {
		t.Error("the warnings about the spec changed")
	}
}

// TestManyWarnings checks that the time does not grow with the square of the number of warnings, which would be many
// times the limit here: a ConfigMap of a tenant can cause 70,000.
func TestManyWarnings(t *testing.T) {
	findings := make([]stackconfig.Finding, 200_000)
	for i := range findings {
		findings[i].Message = fmt.Sprintf("line %06d", i)
	}
	began := time.Now()
	if got := len(plan.Warnings(nil, findings)); got != len(findings) {
		t.Errorf("%d warnings, want %d", got, len(findings))
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("%d warnings take %v", len(findings), took)
	}
}

// The status has room for 20 warnings of 300 characters, also if there is one for each value of a large spec.
func TestKept(t *testing.T) {
	if got := plan.Kept(nil); got != nil {
		t.Errorf("got %v without warnings, and a status without warnings must have no list", got)
	}
	many := make([]string, 500)
	for i := range many {
		many[i] = fmt.Sprint(i) + strings.Repeat("é", 400)
	}
	for _, tc := range []struct{ given, want int }{{1, 1}, {20, 20}, {21, 20}, {500, 20}} {
		got := plan.Kept(many[:tc.given])
		if len(got) != tc.want {
			t.Errorf("%d of %d warnings, want %d", len(got), tc.given, tc.want)
		}
		for _, warning := range got {
			if utf8.RuneCountInString(warning) > 300 || !utf8.ValidString(warning) {
				t.Errorf("%d characters in %q", utf8.RuneCountInString(warning), warning)
			}
		}
	}
	if last := plan.Kept(many)[19]; !strings.HasPrefix(last, "and 481 more;") {
		t.Errorf("the last entry is %q", last)
	}
}
