package image

import (
	"slices"
	"testing"
)

// An image with programs from this machine contains them below /bin, and an unknown repository has no replacement.
func TestPublicImages(t *testing.T) {
	public := NewPublic(t.TempDir())
	for repository, program := range map[string]string{"busybox": "tar", "curlimages/curl": "curl"} {
		built, err := public.Image(t.Context(), repository)
		if err != nil {
			t.Fatal(err)
		}
		if found := files(t, built); !slices.Contains(found, "0755 0:0 bin/"+program) {
			t.Errorf("%s: no %s in %q", repository, program, found)
		}
	}
	if built, err := public.Image(t.Context(), "team/unknown"); built != nil || err != nil {
		t.Errorf("an unknown repository has image %v, error %v", built, err)
	}
}
