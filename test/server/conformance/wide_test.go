//go:build server

package conformance

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/test/server/corpus"
	"github.com/llamastack/llama-stack-k8s-operator/test/server/realserver"
)

// wideCount is the number of stacks of a line. `make test-stacks` tests more.
const wideCount = 10

// TestWideStacks checks that the server of a release starts with the random stacks that the operator accepts, and that
// it does not start with those whose references the operator rejects. A warning that the server might not start allows
// both. STACKS sets the number of stacks of a line, and STACKS_SEED the seed.
func TestWideStacks(t *testing.T) {
	t.Parallel()
	chosen, stacks := uint64(numberOf("STACKS_SEED", seed)), numberOf("STACKS", wideCount)
	eachLine(t, realserver.Releases, func(t *testing.T, rel *release.Release, checker *realserver.Checker) {
		var all wideResult
		wide := corpus.WideStacks(rel, chosen, stacks)
		for i := range wide {
			all.add(t, checker, &wide[i])
		}
		t.Logf("stacks %s, seed %d: %d accepted ones started, %d did not although a warning says it, %d rejections were proven, %d other rejections, %d failures",
			rel.Line, chosen, all.started, all.warned, all.proven, all.others, all.failed)
		count(t, "stacks", all.started+all.warned+all.proven, all.started+all.warned+all.proven+all.failed)
	})
}

// wideResult counts the results of a line.
type wideResult struct{ started, warned, proven, others, failed int }

func (r *wideResult) add(t *testing.T, checker *realserver.Checker, w *corpus.Wide) {
	t.Helper()
	outcome, err := w.Case.Run()
	if err != nil {
		t.Fatal(err)
	}
	config, env := outcome.Config, outcome.Env
	if outcome.Refused != "" {
		var other string
		if config, env, other, err = w.Forced(); err != nil {
			t.Fatal(err)
		}
		if other != "" {
			r.others++
			return
		}
	}
	if w.Aliases {
		checker.Close()
	}
	verdict, err := checker.Check(t.Context(), realserver.Request{
		Tier: realserver.Initialize, Config: string(config), Env: env, Local: true, Models: corpus.Models(config),
		Seconds: startSeconds,
	})
	if err != nil {
		t.Fatal(err)
	}
	unsure := false
	for _, warning := range outcome.Warnings {
		unsure = unsure || strings.Contains(warning.Message, "does not start")
	}
	switch refused := outcome.Refused != ""; {
	case verdict.Missing != "":
		r.others++
	case refused && !verdict.OK:
		r.proven++
	case !refused && verdict.OK:
		r.started++
	case !refused && unsure:
		r.warned++
	default:
		r.failed++
		t.Errorf("%s of %s: the server says %q, the operator says %q, with the configuration\n%s",
			w.Case.Name, w.Case.Release.Version, verdict, outcome.Refused, config)
		return
	}
	keep(t, checker, verdict)
}

// numberOf returns the number in an environment variable, or the default.
func numberOf(variable string, standard int) int {
	if n, err := strconv.Atoi(os.Getenv(variable)); err == nil {
		return n
	}
	return standard
}
