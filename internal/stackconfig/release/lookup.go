package release

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Match is the answer to the question for a release.
type Match struct {
	// Release is the data to use.
	Release *Release
	// Asked is the version that was asked for, without a leading `v`.
	Asked string
	// Exact says that the data is that version's: the line was asked for, or a version in Release.Covers. Otherwise it
	// is that of the same line's nearest patch, and the user is to be told.
	Exact bool
}

// UnknownError says that there is no data for a release.
type UnknownError struct {
	// Asked is what was asked for.
	Asked string
	// Lines are the lines that there is data for, ascending.
	Lines []string
}

// Error lists the release lines to choose from.
func (e *UnknownError) Error() string {
	return fmt.Sprintf("unknown server release %q; known release lines: %s", e.Asked, strings.Join(e.Lines, ", "))
}

var version = regexp.MustCompile(`^v?(([0-9]+\.[0-9]+)(?:\.[0-9]+)?)([-+a-z][-+.a-zA-Z0-9]*)?$`)

// Lookup returns the data for a release, given as a line (`0.7`) or a version (`0.7.3`, `v0.7.3`, `0.7.3-2`). The error
// is an *UnknownError that lists the lines there are.
func Lookup(asked string) (Match, error) {
	groups := version.FindStringSubmatch(asked)
	if groups == nil || !slices.Contains(Lines(), groups[2]) {
		return Match{}, &UnknownError{Asked: asked, Lines: Lines()}
	}
	r := mustLoad(groups[2])
	number, line, suffix := groups[1], groups[2], groups[3]
	return Match{
		Release: r,
		Asked:   number + suffix,
		Exact:   suffix == "" && (number == line || slices.Contains(r.Covers, number)),
	}, nil
}

// IsVersion says whether a text names a release or a line, known or not: 0.7, v1.5.0.
func IsVersion(text string) bool { return version.MatchString(text) }

var line = regexp.MustCompile(`^v?([0-9]+\.[0-9]+)(?:[^0-9]|$)`)

// LineOf returns the line of a version in whichever form a server tells its own (`0.7.1.dev3`, `1.0.0rc1`), known or not;
// empty for what is no version.
func LineOf(version string) string {
	if groups := line.FindStringSubmatch(version); groups != nil {
		return groups[1]
	}
	return ""
}

// Default returns the data of the release line that runs when nothing else is said.
func Default() *Release { return mustLoad(DefaultLine()) }

// DefaultLine returns the name of that line, without loading it.
func DefaultLine() string { return history().DefaultLine }

// Lines returns the release lines that there is data for, ascending.
func Lines() []string { return slices.Clone(files().lines) }

// Offered returns the release lines that users may ask for, ascending: a line is offered once configs generated for it
// were seen to load and boot. The data of the others serves errors and reports only.
func Offered() []string { return slices.Clone(history().Offered) }

// IsOffered says whether users may ask for a line.
func IsOffered(line string) bool { return slices.Contains(history().Offered, line) }

// LookupOffered is Lookup for the lines that users may ask for; the error, an *UnknownError, lists only those.
func LookupOffered(asked string) (Match, error) {
	match, err := Lookup(asked)
	if err != nil || !IsOffered(match.Release.Line) {
		return Match{}, &UnknownError{Asked: asked, Lines: Offered()}
	}
	return match, nil
}
