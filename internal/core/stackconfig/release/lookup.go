package release

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Match is the result of a lookup for a release.
type Match struct {
	// Release is the data to use.
	Release *Release
	// Asked is the requested version, without a leading `v`.
	Asked string
	// Exact reports whether the data is for the requested version. This is the case if the caller requested a line, or a
	// version that Release.Covers contains. Otherwise, the data is for another version of the same line, and the caller
	// must warn the user.
	Exact bool
}

// UnknownError reports that there is no data for a release, or that users cannot request the release.
type UnknownError struct {
	// Asked is the requested release.
	Asked string
	// Lines are the available lines, ascending.
	Lines []string
}

// Error returns a message that lists the available release lines.
func (e *UnknownError) Error() string {
	return fmt.Sprintf("unknown server release %q; known release lines: %s", e.Asked, strings.Join(e.Lines, ", "))
}

var version = regexp.MustCompile(`^v?(([0-9]+\.[0-9]+)(?:\.[0-9]+)?)([-+a-z][-+.a-zA-Z0-9]*)?$`)

// Lookup returns the data for a release, given as a line (`0.7`) or a version (`0.7.3`, `v0.7.3`, `0.7.3-2`). The error
// is an *UnknownError that lists the available lines.
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

// IsVersion reports whether a string has the form of a release or a line, for example 0.7 or v1.5.0. The operator
// does not necessarily contain data for it.
func IsVersion(text string) bool { return version.MatchString(text) }

var line = regexp.MustCompile(`^v?([0-9]+\.[0-9]+)(?:[^0-9]|$)`)

// LineOf returns the line of a version. It accepts all forms in which servers report their versions (`0.7.1.dev3`,
// `1.0.0rc1`). For any other string, LineOf returns an empty string. The operator does not necessarily contain data for
// the line.
func LineOf(version string) string {
	if groups := line.FindStringSubmatch(version); groups != nil {
		return groups[1]
	}
	return ""
}

// Default returns the data of the release line that runs when the user does not name one.
func Default() *Release { return mustLoad(DefaultLine()) }

// DefaultLine returns the name of the line whose data the function Default returns. It does not load the data.
func DefaultLine() string { return files().DefaultLine }

// Lines returns the release lines with data, ascending.
func Lines() []string { return slices.Clone(files().Lines) }

// Offered returns the release lines that users may request, ascending. Tests show that the servers of these lines start
// with generated configs. The data of the other lines is only for errors and reports.
func Offered() []string { return slices.Clone(files().Offered) }

// IsOffered reports whether users may request a line.
func IsOffered(line string) bool { return slices.Contains(files().Offered, line) }

// LookupOffered returns the data for a release as Lookup does, but only for the lines that users may request. The
// error, an *UnknownError, lists only these lines.
func LookupOffered(asked string) (Match, error) {
	match, err := Lookup(asked)
	if err != nil || !IsOffered(match.Release.Line) {
		return Match{}, &UnknownError{Asked: asked, Lines: Offered()}
	}
	return match, nil
}

// Compare compares releases and lines by number: 0.9 comes before 0.10, and 0.10 before 0.10.1. The result has the same
// meaning as the result of [cmp.Compare].
func Compare(a, b string) int {
	return slices.CompareFunc(strings.Split(a, "."), strings.Split(b, "."), func(x, y string) int {
		m, _ := strconv.Atoi(x)
		n, _ := strconv.Atoi(y)
		return cmp.Compare(m, n)
	})
}

// sortedKeys returns the keys of a map in ascending order.
func sortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}

// first returns the first item that matches. It returns false when no item matches.
func first[T any](items []T, match func(T) bool) (found T, ok bool) {
	if i := slices.IndexFunc(items, match); i >= 0 {
		return items[i], true
	}
	return found, false
}
