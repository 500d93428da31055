//go:build server

package conformance

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/test/server/corpus"
	"github.com/llamastack/llama-stack-k8s-operator/test/server/realserver"
)

// seed of the cases made by chance.
const seed = 1

// support is what the checkers need beside the server.
func support(t *testing.T) realserver.Support {
	t.Helper()
	s, err := realserver.InstallSupport(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// lines are the lines that RELEASES names, else the given ones.
func lines(otherwise ...string) []string {
	switch named := os.Getenv("RELEASES"); named {
	case "":
		return otherwise
	case "all":
		return release.Lines()
	default:
		return strings.FieldsFunc(named, func(r rune) bool { return r == ',' || r == ' ' })
	}
}

// eachLine runs a test for lines, some at the same time, with a checker of their release.
func eachLine(t *testing.T, lines []string, test func(t *testing.T, rel *release.Release, checker *realserver.Checker)) {
	t.Helper()
	beside := support(t)
	for _, line := range lines {
		match, err := release.Lookup(line)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			bin, err := realserver.Install(t.Context(), match.Release.Version)
			if err != nil {
				t.Fatal(err)
			}
			checker := realserver.NewChecker(bin, beside)
			t.Cleanup(checker.Close)
			test(t, match.Release, checker)
		})
	}
}

// accepted is a configuration that our checks let through.
type accepted struct {
	*corpus.Case
	*corpus.Outcome
}

// acceptedOf runs cases through the pipeline and counts those that are refused.
func acceptedOf(t *testing.T, cases []corpus.Case) (all []accepted, refused int) {
	t.Helper()
	for i := range cases {
		outcome, err := cases[i].Run()
		switch {
		case err != nil:
			t.Error(err)
		case outcome.Refused != "":
			refused++
		default:
			all = append(all, accepted{Case: &cases[i], Outcome: outcome})
		}
	}
	return all, refused
}

func sorted(lines []string) []string {
	slices.SortFunc(lines, release.Compare)
	return lines
}
