package distribution_test

import (
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
)

// TestTagAlone checks that TagAlone is true only if the release comes only from the tag of a user's own image. Such a
// tag can be a version of the image and not of the server.
func TestTagAlone(t *testing.T) {
	for image, alone := range map[string]bool{
		"quay.io/team/llama:1.2":                                           true,
		"quay.io/team/llama:v1.4.2":                                        true,
		"quay.io/team/llama:1.2.5@sha256:abc":                              true,
		"registry.example.com:5000/llama:0.2.11":                           true,
		"quay.io/team/distribution-mine:1.2.5":                             true,
		"docker.io/ogxai/distribution-starter:1.2":                         true,
		"docker.io/ogxai/distribution-starter:1.2.5-team":                  true,
		"quay.io/distribution-starter/llama:1.2.5":                         true,
		"docker.io/ogxai/distribution-starter:1.2.5":                       false,
		"mirror.example.com:5000/a/distribution-starter:v1.2.9@sha256:abc": false,
		"llamastack/distribution-starter:0.2.20":                           false,
		"quay.io/team/llama:prod":                                          false, // the tag is not a version
	} {
		resolved, err := distribution.Resolve("", image, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := resolved.TagAlone(); got != alone {
			t.Errorf("%s: %v, want %v", image, got, alone)
		}
		if labeled := resolved.WithLabel("1.2.5", true); labeled.TagAlone() {
			t.Errorf("%s: the release comes only from the tag although there is a label", image)
		}
		asked, err := distribution.Resolve("", image, "1.2.5", nil)
		if err != nil || asked.TagAlone() {
			t.Errorf("%s: the release comes only from the tag although a version is set, error %v", image, err)
		}
	}
	for image, alone := range map[string]bool{
		"mirror.example.com/starter:1.2.5": false,
		"mirror.example.com/starter:1.2":   true,
	} {
		resolved, err := distribution.Resolve("starter", "", "", distribution.Overrides{"starter": image})
		if err != nil || resolved.TagAlone() != alone {
			t.Errorf("starter as %s: TagAlone returns %v, want %v, error %v", image, !alone, alone, err)
		}
	}
	own, err := distribution.Resolve("mine", "", "", distribution.Overrides{"mine": "mirror.example.com/mine:1.2.5"})
	if err != nil || !own.TagAlone() {
		t.Errorf("a name that only the administrator defines: the release does not come only from the tag, error %v", err)
	}
}
