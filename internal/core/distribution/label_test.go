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
	want                 summary
}{
	"only the label": {
		image: "stack:prod", label: "v0.7.2", own: true,
		want: summary{"", "0.7.2", "stack:prod", "0.7", true, distribution.ByLabel, false},
	},
	"a label and a different tag": {
		image: "stack:0.7.1", label: "0.7.3", own: true,
		want: summary{"", "0.7.3", "stack:0.7.1", "0.7", true, distribution.ByLabel, false},
	},
	"a label and a different version": {
		image: "stack:prod", version: "0.7.1", label: "0.7.3", own: true,
		want: summary{"", "0.7.1", "stack:prod", "0.7", true, distribution.ByVersion, false},
	},
	"an override without a known release": {
		name: "starter", image: "mirror.example.com/starter:prod", label: "0.7.3", own: true,
		want: summary{"starter", "0.7.3", "mirror.example.com/starter:prod", "0.7", true, distribution.ByLabel, true},
	},
	"a name that only the administrator defines": {
		name: "rh-dev", image: "quay.io/rh-dev:2.25", label: "0.7.3", own: true,
		want: summary{"rh-dev", "0.7.3", "quay.io/rh-dev:2.25", "0.7", true, distribution.ByLabel, false},
	},
	"a release that is not offered": {
		image: "stack:0.7.1", label: "9.5.0", own: true,
		want: summary{"", "9.5.0", "stack:0.7.1", "0.7", false, distribution.Unknown, false},
	},
	"an override with a release that is not offered": {
		name: "starter", image: "mirror.example.com/starter:0.7.1", label: "9.5.0", own: true,
		want: summary{"starter", "9.5.0", "mirror.example.com/starter:0.7.1", "0.7", false, distribution.Unknown, true},
	},
	"no version": {
		image: "stack:0.7.1", label: "prod", own: true,
		want: summary{"", "0.7.1", "stack:0.7.1", "0.7", true, distribution.ByTag, false},
	},
	"no label": {
		image: "stack:0.7.1", own: true,
		want: summary{"", "0.7.1", "stack:0.7.1", "0.7", true, distribution.ByTag, false},
	},
	"the image's version": {
		image: "stack:prod", label: "0.7.3",
		want: summary{"", "0.7.3", "stack:prod", "0.7", true, distribution.ByLabel, false},
	},
	"the image's version after the tag": {
		image: "stack:0.7.1", label: "0.7.3",
		want: summary{"", "0.7.1", "stack:0.7.1", "0.7", true, distribution.ByTag, false},
	},
	"the version of the base image": {
		image: "stack:prod", label: "24.04",
		want: summary{"", "", "stack:prod", "0.7", false, distribution.Unknown, false},
	},
	"the image's version instead of a tag that is not a server release": {
		image: "stack:2.25", label: "0.7.3",
		want: summary{"", "0.7.3", "stack:2.25", "0.7", true, distribution.ByLabel, false},
	},
}

// TestWithLabel checks the precedence of the sources of a release: first the version in the spec, then the operator's
// own label, then the tag, and then any other label.
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
			before := summarize(resolved)
			got := resolved.WithLabel(tt.label, tt.own)
			if diff := cmp.Diff(tt.want, summarize(got)); diff != "" {
				t.Errorf("with the label (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, summarize(resolved)); diff != "" {
				t.Errorf("WithLabel changed its input:\n%s", diff)
			}
		})
	}
}
