package release_test

import (
	"regexp"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

func TestRemovalNote(t *testing.T) {
	tests := map[string]struct {
		removal release.Removal
		want    string
	}{
		"a replacement": {
			release.Removal{Kind: "api", Last: "0.6", Instead: "it is now called responses"},
			"release 0.6 was the last release with this API; it is now called responses",
		},
		"no replacement":  {release.Removal{Kind: "section", Last: "0.8"}, "release 0.8 was the last release with this section"},
		"a full sentence": {release.Removal{Kind: "resource", Last: "0.8", Instead: "Check it."}, "release 0.8 was the last release with this resource kind; Check it"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tc.removal.Note(); got != tc.want {
				t.Errorf("Note() = %q, want %q", got, tc.want)
			}
		})
	}
}

// TestRemovalNotesNameThePart checks that the note about every part in the data names the kind of the part.
func TestRemovalNotesNameThePart(t *testing.T) {
	named := regexp.MustCompile(`^release \d+\.\d+ was the last release with this [A-Za-z]+`)
	for _, line := range release.Lines() {
		for _, gone := range lineOf(t, line).Removed {
			if note := gone.Note(); !named.MatchString(note) {
				t.Errorf("the note about the %s %s does not name the kind: %q", gone.Kind, gone.Name, note)
			}
		}
	}
}
