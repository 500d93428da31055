//go:build server

package conformance

import (
	"fmt"
	"slices"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/test/server/corpus"
	"github.com/llamastack/llama-stack-k8s-operator/test/server/realserver"
)

// seed is the seed of the random cases.
const seed = 1

// support returns the programs that the checkers need in addition to the release.
func support(t *testing.T) realserver.Support {
	t.Helper()
	s, err := realserver.InstallSupport(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// eachLine runs a test for each release line, in parallel, with a checker for the release.
func eachLine(
	t *testing.T, releases func() ([]*release.Release, error),
	test func(t *testing.T, rel *release.Release, checker *realserver.Checker),
) {
	t.Helper()
	beside := support(t)
	asked, err := releases()
	if err != nil {
		t.Fatal(err)
	}
	for _, rel := range asked {
		t.Run(rel.Line, func(t *testing.T) {
			t.Parallel()
			checker, err := realserver.NewChecker(t.Context(), rel.Version, beside)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(checker.Close)
			test(t, rel, checker)
		})
	}
}

// keep keeps verdicts that fail no test, so that later runs do not ask the server again.
func keep(t *testing.T, checker *realserver.Checker, verdicts ...realserver.Verdict) {
	t.Helper()
	if err := checker.Keep(verdicts...); err != nil {
		t.Error(err)
	}
}

// accepted is a configuration that the operator's checks accept.
type accepted struct {
	*corpus.Case
	*corpus.Outcome
}

// acceptedOf runs cases through the pipeline. It returns the accepted configurations and the number of rejected cases.
func acceptedOf(t *testing.T, cases []corpus.Case) (all []accepted, refused int) {
	t.Helper()
	for i := range cases {
		outcome, err := cases[i].Run()
		switch {
		case err != nil:
			t.Error(err)
		case outcome.Refused != "":
			refused++
		default:
			all = append(all, accepted{Case: &cases[i], Outcome: outcome})
		}
	}
	return all, refused
}

// count records the number of passed cases and the total number of cases of a tier for a line. The command report
// prints them in a table.
func count(t *testing.T, tier string, passed, all int) {
	t.Helper()
	if !slices.Contains(realserver.Columns, tier) {
		t.Fatalf("the report has no column %q: %q", tier, realserver.Columns)
	}
	t.Attr(tier, fmt.Sprintf("%d of %d", passed, all))
}
