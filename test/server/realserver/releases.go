package realserver

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

// releasesVariable is the environment variable that lists the releases to test: lines, versions, or "all".
const releasesVariable = "RELEASES"

// firstLine is the oldest line whose configurations have the current form.
const firstLine = "0.3"

// Named reports whether RELEASES is set. If it is, the tests check every detail of the listed releases.
func Named() bool { return len(named()) > 0 }

// Columns are the columns of the table that the command report prints, from the cheapest tier to the most expensive.
// Record gets the lines that have passed cases in all of them.
var Columns = []string{"parse", "negative", "initialize", "stacks", "boot"}

// Releases returns the releases to start. The environment variable RELEASES can list them ("0.3 1.5.0", or "all" for
// every offered line). If it is not set, the result is firstLine, the default line, the newest line, and every line
// that Changed returns.
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

// ReleasesToRead returns the releases with which the tests only read configurations, without starting a server. These
// are the releases in RELEASES. If the variable is not set, the result is every line with data.
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

// lookup returns the releases that the parameter `asked` lists, in ascending order and without duplicates. If `asked`
// contains only "all", lookup returns the releases that the parameter `all` lists.
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
