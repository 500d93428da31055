package distribution_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
)

// withLabelCases are the cases of TestWithLabel.
var withLabelCases = map[string]struct {
	// name, image and version are the values in the spec. If name is set, image is an override for the image of the
	// distribution with this name.
	name, image, version string
	label                string
	own                  bool
	want                 string // the version, the source of the release, and "exact" if there are data for this version
}{
	"only the label":                      {"", "stack:prod", "", "v0.7.2", true, "0.7.2 label exact"},
	"a label and a different tag":         {"", "stack:0.7.1", "", "0.7.3", true, "0.7.3 label exact"},
	"a label and a different version":     {"", "stack:prod", "0.7.1", "0.7.3", true, "0.7.1 version exact"},
	"an override without a known release": {"starter", "mirror/starter:prod", "", "0.7.3", true, "0.7.3 label exact"},
	"a name of the administrator":         {"rh-dev", "quay.io/rh-dev:2.25", "", "0.7.3", true, "0.7.3 label exact"},
	"a release that is not offered":       {"", "stack:0.7.1", "", "9.5.0", true, "9.5.0 unknown"},
	"an override that is not offered":     {"starter", "mirror/starter:0.7.1", "", "9.5.0", true, "9.5.0 unknown"},
	"no version":                          {"", "stack:0.7.1", "", "prod", true, "0.7.1 tag exact"},
	"no label":                            {"", "stack:0.7.1", "", "", true, "0.7.1 tag exact"},
	"the image's version":                 {"", "stack:prod", "", "0.7.3", false, "0.7.3 label exact"},
	"the image's version after the tag":   {"", "stack:0.7.1", "", "0.7.3", false, "0.7.1 tag exact"},
	"the version of the base image":       {"", "stack:prod", "", "24.04", false, " unknown"},
	"the image's version instead of a tag that is not a server release": {"", "stack:2.25", "", "0.7.3", false, "0.7.3 label exact"},
}

// TestWithLabel checks the precedence of the sources of a release: first the version in the spec, then the operator's
// own label, then the tag, and then any other label. The name and the image do not change.
func TestWithLabel(t *testing.T) {
	for name, tt := range withLabelCases {
		t.Run(name, func(t *testing.T) {
			image, overrides := tt.image, distribution.Overrides(nil)
			if tt.name != "" {
				image, overrides = "", distribution.Overrides{tt.name: tt.image}
			}
			resolved, err := distribution.Resolve(tt.name, image, tt.version, overrides)
			if err != nil {
				t.Fatal(err)
			}
			before, want := summarize(resolved), resolved
			got := resolved.WithLabel(tt.label, tt.own)
			want.Version, want.DetectedBy, want.Exact = got.Version, got.DetectedBy, got.Exact
			if diff := cmp.Diff(summarize(want), summarize(got)); diff != "" {
				t.Errorf("the label changed more than the version (-want +got):\n%s", diff)
			}
			told := got.Version + " " + string(got.DetectedBy) + map[bool]string{true: " exact"}[got.Exact]
			if diff := cmp.Diff(tt.want, told); diff != "" {
				t.Errorf("with the label (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, summarize(resolved)); diff != "" {
				t.Errorf("WithLabel changed its input:\n%s", diff)
			}
		})
	}
}
