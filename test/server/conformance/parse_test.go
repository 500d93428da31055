//go:build server

package conformance

import (
	"slices"
	"testing"
	"time"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/test/server/corpus"
	"github.com/llamastack/llama-stack-k8s-operator/test/server/realserver"
)

// randomConfigs is the number of random configurations that each line reads.
const randomConfigs = 500

// TestParse checks that the classes of every line read the configurations that the operator's checks accept for the
// line.
func TestParse(t *testing.T) {
	t.Parallel()
	eachLine(t, realserver.ReleasesToRead, func(t *testing.T, rel *release.Release, checker *realserver.Checker) {
		begin := time.Now()
		configs, refused := acceptedOf(t, slices.Concat(corpus.Cases(rel), corpus.Strange(rel),
			corpus.Random(rel, seed, randomConfigs)))
		failed := 0
		for _, c := range configs {
			verdict, err := checker.Check(t.Context(), realserver.Request{
				Tier: realserver.Parse, Config: string(c.Config),
				Env: c.Env,
			})
			if err != nil {
				t.Fatal(err)
			}
			if !verdict.OK {
				failed++
				t.Errorf("%s: the release %s rejects a configuration that the checks accept: %s", c.Name, rel.Version, verdict)
				continue
			}
			keep(t, checker, verdict)
		}
		t.Logf("parse %s: the server read %d configurations and rejected %d, the operator rejected %d cases, %.0f s",
			rel.Line, len(configs)-failed, failed, refused, time.Since(begin).Seconds())
		count(t, "parse", len(configs)-failed, len(configs))
	})
}
