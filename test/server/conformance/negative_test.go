//go:build server

package conformance

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/test/server/corpus"
	"github.com/llamastack/llama-stack-k8s-operator/test/server/realserver"
)

// TestNegative checks that the server of a release rejects the configurations that the operator's checks reject because
// of the release data, and ignores the values that the checks report as ignored. If a check is intentionally stricter
// than the server, the server must react as the case states.
func TestNegative(t *testing.T) {
	t.Parallel()
	eachLine(t, realserver.Releases, func(t *testing.T, rel *release.Release, checker *realserver.Checker) {
		begin, failed := time.Now(), 0
		asked := map[corpus.Answer]int{}
		var left []string
		for _, n := range append(corpus.Negatives(rel), swept(rel)...) {
			if n.Answer == corpus.Unasked {
				continue
			}
			q, err := n.Question()
			if err != nil {
				failed++
				t.Error(err)
				continue
			}
			verdicts := ask(t, checker, &n, q)
			verdict := verdicts[len(verdicts)-1]
			if verdict.Missing != "" || verdict.Phase == "" && !verdict.OK {
				left = append(left, fmt.Sprintf("%s: the package %s is not installed", n.Name, verdict.Missing))
				keep(t, checker, verdicts...)
				continue
			}
			asked[n.Answer]++
			if problem := differs(&n, verdict); problem != "" {
				failed++
				t.Errorf("%s: %s of release %s: %s", n.Name, problem, rel.Version, verdict)
				continue
			}
			keep(t, checker, verdicts...)
		}
		slices.Sort(left)
		t.Logf("omitted cases of %s:\n%s", rel.Line, strings.Join(left, "\n"))
		t.Logf("negative %s: the server rejected %d configurations, ignored the mistakes in %d, and accepted %d, %.0f s", rel.Line,
			asked[corpus.Refused], asked[corpus.Ignored], asked[corpus.Taken], time.Since(begin).Seconds())
		all := asked[corpus.Refused] + asked[corpus.Ignored] + asked[corpus.Taken]
		count(t, "negative", all-failed, all)
		if asked[corpus.Refused] < leastRefused {
			t.Errorf("only %d cases expect that the server rejects the configuration, want at least %d", asked[corpus.Refused], leastRefused)
		}
	})
}

// swept returns all cases of corpus.Sweep if RELEASES selects lines. Otherwise, it returns only some of them, to limit
// the duration of the test.
func swept(rel *release.Release) []corpus.Negative {
	all := corpus.Sweep(rel)
	if realserver.Named() {
		return all
	}
	few := make([]corpus.Negative, 0, len(all)/sweepEach+1)
	for i := 0; i < len(all); i += sweepEach {
		few = append(few, all[i])
	}
	return few
}

// sweepEach is the ratio of all cases to the cases that the function swept selects. It has no common factor with the
// number of unusual values, so that the selection contains every value for at least one key.
const sweepEach = 11

// leastRefused is the minimum number of cases of a line that expect the server to reject the configuration.
const leastRefused = 200

// ask returns the verdicts of the server on a configuration that contains a mistake. The last verdict is decisive.
func ask(t *testing.T, checker *realserver.Checker, n *corpus.Negative, q *corpus.Question) []realserver.Verdict {
	t.Helper()
	known := []byte(q.Config)
	if q.Odd {
		known = []byte(q.Without)
	}
	if n.Listed {
		checker.Close()
	}
	request := realserver.Request{
		Tier: realserver.Parse, Config: q.Config, Env: q.Env,
		Local: true, Models: corpus.Models(known), Seconds: startSeconds,
	}
	if n.Answer == corpus.Ignored {
		request.Without = q.Without
	}
	read, err := checker.Check(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	if n.Answer == corpus.Ignored || !read.OK || n.Answer == corpus.Taken && needsMore(known, q.Env) != "" {
		return []realserver.Verdict{read}
	}
	request.Tier = realserver.Initialize
	started, err := checker.Check(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	return []realserver.Verdict{read, started}
}

// differs returns the difference between a verdict and the expectation of the case, or "".
func differs(n *corpus.Negative, verdict realserver.Verdict) string {
	switch {
	case n.Answer == corpus.Refused && verdict.OK:
		return "the operator rejects the configuration, but the server accepts it"
	case n.Answer == corpus.Refused && !regexp.MustCompile(n.Says).MatchString(verdict.Phase+" "+verdict.Message):
		return fmt.Sprintf("the server rejects the configuration for a reason other than %q", n.Says)
	case n.Answer != corpus.Refused && !verdict.OK:
		return "the server rejects the configuration, but according to the case, it accepts the configuration"
	case n.Answer == corpus.Ignored && !verdict.Same:
		return "the server reads the value, but according to the case, it ignores the value"
	}
	return ""
}
