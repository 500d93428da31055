package realserver

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/release"
)

// releasesVariable names the releases to test: lines or versions, or all.
const releasesVariable = "RELEASES"

// firstLine is the oldest line whose configurations have the form of today's.
const firstLine = "0.3"

// Releases are the releases to test: those that the environment variable RELEASES names ("0.3 1.5.0", "all"), or else
// firstLine, the default and the newest.
func Releases() ([]*release.Release, error) {
	lines := release.Lines()
	asked := strings.FieldsFunc(os.Getenv(releasesVariable), func(r rune) bool { return r == ' ' || r == ',' })
	switch {
	case len(asked) == 0:
		asked = []string{firstLine, release.DefaultLine(), lines[len(lines)-1]}
	case slices.Equal(asked, []string{"all"}):
		asked = lines
	}
	releases := make([]*release.Release, 0, len(asked))
	for _, name := range asked {
		match, err := release.Lookup(name)
		if err != nil {
			return nil, fmt.Errorf("variable %s: %w", releasesVariable, err)
		}
		if !slices.Contains(releases, match.Release) {
			releases = append(releases, match.Release)
		}
	}
	return releases, nil
}
