package stackconfig_test

import (
	"path/filepath"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/golden"
	"github.com/llamastack/llama-stack-k8s-operator/test/server/corpus"
)

// TestCheckProviders checks that an error without a base is also an error with the base of every case, and that most
// errors in spec.providers are found without a base.
func TestCheckProviders(t *testing.T) {
	found, all := 0, 0
	check := func(title string, in *intent.Intent, base []byte, rel *release.Release) {
		_, report := stackconfig.Generate(stackconfig.Input{Intent: in, Base: parseBase(t, base), Release: rel})
		at := func(errs field.ErrorList, path string) bool {
			return slices.ContainsFunc(errs, func(err *field.Error) bool { return err.Field == path })
		}
		without := stackconfig.CheckProviders(in, rel)
		for _, err := range without {
			if !at(report.Errors, err.Field) {
				t.Errorf("%s: only without a base: %s", title, intent.Message(err))
			}
		}
		for i := range in.Providers {
			path := in.Providers[i].Path.Child("provider").String()
			if at(report.Errors, path) {
				all++
			}
			if at(without, path) {
				found++
			}
		}
	}
	for _, step := range golden.Cases(t, "testdata") {
		for _, name := range golden.Cases(t, filepath.Join("testdata", step)) {
			dir := filepath.Join("testdata", step, name)
			wishes := readIntent(t, golden.Read(t, filepath.Join(dir, "cr.yaml")))
			check(step+"/"+name, wishes, baseOf(t, step, dir), releaseOf(t, wishes))
		}
	}
	for _, c := range corpus.Random(release.Default(), 1, 200) {
		if in, errs := intent.FromObject(c.Object); len(errs) == 0 {
			check(c.Name, in, c.Base, c.Release)
		}
	}
	if all == 0 || found < all {
		t.Errorf("%d of %d errors in the type of a provider are found without a base", found, all)
	}
}
