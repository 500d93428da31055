package upgrade

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/dryrun"
)

func TestNewAction(t *testing.T) {
	for text, want := range map[string]Action{
		"spec.a[0]: is wrong; remove it":          {Field: "spec.a[0]", Problem: "is wrong", Remedy: "remove it"},
		"spec.a: is wrong":                        {Field: "spec.a", Problem: "is wrong"},
		"providers.a: is dropped; it has no use":  {Problem: "providers.a: is dropped", Remedy: "it has no use"},
		"a sentence: with a colon":                {Problem: "a sentence: with a colon"},
		`metadata.annotations[a/b]: "x" is wrong`: {Field: "metadata.annotations[a/b]", Problem: `"x" is wrong`},
	} {
		if diff := cmp.Diff(want, newAction(text)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

func TestOf(t *testing.T) {
	for name, tc := range map[string]struct {
		in   Input
		want Result
	}{
		"no error":        {Input{}, Starts},
		"an error":        {Input{After: dryrun.Outcome{Errors: []string{"spec.a: wrong"}}}, WouldNotStart},
		"an image":        {Input{Image: "a:1"}, Pinned},
		"a deleted stack": {Input{Image: "a:1", Deleting: true}, Deleting},
		"incomplete facts": {
			Input{Unknown: []string{"x"}, After: dryrun.Outcome{Errors: []string{"spec.a: wrong"}}}, NotKnown,
		},
		"an error in both releases": {Input{Before: dryrun.Outcome{Errors: []string{"spec.a: wrong"}}, After: dryrun.Outcome{Errors: []string{"spec.a: wrong"}}}, WouldNotStart},
	} {
		got := Of(tc.in)
		if got.Result != tc.want || got.Boots != (tc.want == Starts || tc.want == Pinned || tc.want == Deleting) {
			t.Errorf("%s: got %q, boots %v", name, got.Result, got.Boots)
		}
		if already := len(got.Actions) > 0 && got.Actions[0].Already; already != (name == "an error in both releases") {
			t.Errorf("%s: unexpected actions %+v", name, got.Actions)
		}
	}
}

func TestIgnoredSettingsAreActions(t *testing.T) {
	got := Of(Input{
		Before: dryrun.Outcome{Warnings: []string{"spec.old: has no effect"}},
		After: dryrun.Outcome{Warnings: []string{
			"spec.old: has no effect", "spec.new: has no effect; remove it",
			"providers.a: is dropped",
		}},
	})
	want := []Action{{Field: "spec.new", Problem: "has no effect", Remedy: "remove it"}}
	if diff := cmp.Diff(want, got.Actions); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
