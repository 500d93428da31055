package distribution_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
)

// Every image that a name and a version can resolve to is listed once, and an override under the override keys of an
// image applies to the name and version of that image.
func TestImages(t *testing.T) {
	listed := map[string]bool{}
	for _, one := range distribution.Images() {
		if listed[one.Image] {
			t.Errorf("%s is listed twice", one.Image)
		}
		listed[one.Image] = true
		overrides := distribution.Overrides{}
		for _, key := range distribution.OverrideKeys(one.Name, one.Version) {
			overrides[key] = "registry.example.com/mirror:" + one.Version
		}
		if got, _ := overrides.Image(one.Name, one.Version); got == "" {
			t.Errorf("no override key of %s contains its release", one.Image)
		}
	}
	for _, name := range distribution.Known(nil) {
		for _, version := range append(distribution.Versions(name), "") {
			found, err := distribution.Resolve(name, "", version, nil)
			if err != nil || !listed[found.Image] {
				t.Errorf("%s %s: image %q is not listed (%v)", name, version, found.Image, err)
			}
		}
	}
	if !slices.ContainsFunc(distribution.Images(),
		func(one distribution.CatalogueImage) bool { return one.Image == starterImage }) {
		t.Errorf("%s is not listed", starterImage)
	}
}

func TestOverrideKeys(t *testing.T) {
	for _, tc := range []struct {
		name, version string
		want          []string
	}{
		{"starter", "0.7.1", []string{"starter", "starter@0.7", "starter@0.7.1"}},
		{"starter", "0.7.3", []string{"starter@0.7.3"}},
		{"starter", "0.6.1", []string{"starter@0.6", "starter@0.6.1"}},
		{"unknown", "0.7.1", nil},
	} {
		if diff := cmp.Diff(tc.want, distribution.OverrideKeys(tc.name, tc.version)); diff != "" {
			t.Errorf("%s %s (-want +got):\n%s", tc.name, tc.version, diff)
		}
	}
}

func TestRelatedImages(t *testing.T) {
	env := map[string]string{"RELATED_IMAGE_STARTER": "mirror/starter:0.7.1", "RELATED_IMAGE_UNKNOWN": "x"}
	got := distribution.RelatedImages(func(name string) string { return env[name] })
	if diff := cmp.Diff(map[string]string{"starter": "mirror/starter:0.7.1"}, map[string]string(got)); diff != "" {
		t.Errorf("overrides (-want +got):\n%s", diff)
	}
}
