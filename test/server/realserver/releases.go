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

// firstLine is the oldest line whose configurations have today's form.
const firstLine = "0.3"

// Named reports whether RELEASES names the releases to test, which asks for every detail about them.
func Named() bool { return len(named()) > 0 }

// Releases returns the releases to start: those that the environment variable RELEASES names ("0.3 1.5.0"; "all" for
// every offered line). Without it they are firstLine, the default, the newest, and every line whose data Changed.
func Releases() ([]*release.Release, error) {
	asked := named()
	if len(asked) == 0 {
		changed, err := Changed()
		if err != nil {
			return nil, err
		}
		offered := release.Offered()
		asked = append([]string{firstLine, release.DefaultLine(), offered[len(offered)-1]}, changed...)
	}
	return lookup(asked, release.Offered())
}

// ReleasesToRead returns the releases that only read configurations, without a start: those that RELEASES names, or
// else every line with data.
func ReleasesToRead() ([]*release.Release, error) {
	asked := named()
	if len(asked) == 0 {
		asked = []string{"all"}
	}
	return lookup(asked, release.Lines())
}

func named() []string {
	return strings.FieldsFunc(os.Getenv(releasesVariable), func(r rune) bool { return r == ' ' || r == ',' })
}

// lookup returns each selected release once, ascending; "all" selects all.
func lookup(asked, all []string) ([]*release.Release, error) {
	if slices.Equal(asked, []string{"all"}) {
		asked = all
	}
	var releases []*release.Release
	for _, name := range asked {
		match, err := release.Lookup(name)
		if err != nil {
			return nil, fmt.Errorf("variable %s: %w", releasesVariable, err)
		}
		if !slices.Contains(releases, match.Release) {
			releases = append(releases, match.Release)
		}
	}
	slices.SortFunc(releases, func(a, b *release.Release) int { return release.Compare(a.Line, b.Line) })
	return releases, nil
}
