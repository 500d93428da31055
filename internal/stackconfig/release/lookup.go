package release

// Match is the answer to the question for a release.
type Match struct {
	// Release is the data to use.
	Release *Release
	// Asked is the version that was asked for.
	Asked string
	// Exact says that the data is that version's: the line was asked for, or a version in Release.Covers. Otherwise it
	// is the nearest patch of the same line, and the user is to be told.
	Exact bool
}
