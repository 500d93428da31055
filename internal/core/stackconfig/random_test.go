package stackconfig_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/test/server/corpus"
)

// keepsBase reports whether a spec removes only the providers of the base that it names.
func keepsBase(c *corpus.Case) bool {
	return c.Object.Spec.Distribution.BaseProviders == "" &&
		!slices.ContainsFunc(c.Object.Spec.Disabled, func(entry string) bool { return strings.HasSuffix(entry, "/*") })
}

// accepts generates the configuration of a random stack, and checks the properties that every result must have. It
// returns false if the stack is rejected.
func accepts(t *testing.T, c *corpus.Case) bool {
	t.Helper()
	in, errs := intent.FromObject(c.Object)
	if len(errs) > 0 {
		return false
	}
	result, report := stackconfig.Generate(stackconfig.Input{
		Intent: in, Base: parseBase(t, c.Base), Release: c.Release,
	})
	if result == nil {
		if len(report.Errors) == 0 {
			t.Errorf("%s: no result and no error", c.Name)
		}
		return false
	}
	if keepsBase(c) {
		holds(t, c.Base, in, result, report)
	}
	if t.Failed() {
		t.Fatalf("%s:\n%s", c.Name, result.Config)
	}
	return true
}

// TestRandomSpecs generates a configuration for each of many random specs, and checks that most specs are accepted.
// Half of the specs have the starter base, and the other half have a nearly empty base.
func TestRandomSpecs(t *testing.T) {
	const runs = 600
	accepted := 0
	for _, c := range corpus.Random(release.Default(), 1, runs) {
		if accepts(t, &c) {
			accepted++
		}
	}
	if accepted < runs/2 {
		t.Errorf("only %d of %d specs are accepted; the generator writes too many invalid specs", accepted, runs)
	}
}

// FuzzSpec checks the properties that TestRandomSpecs checks, for any seed.
func FuzzSpec(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) {
		for _, c := range corpus.Random(release.Default(), seed, 1) {
			accepts(t, &c)
		}
	})
}
