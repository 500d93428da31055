// Package conformance asks the real server of every release line about the
// configurations of package corpus: whatever our own checks accept has to be read
// by the release's classes (TestParse) and to start in its own start-up code
// (TestInitialise), and what they refuse by the data of the release has to fail
// there (TestNegative). RELEASES names the lines, `all` for every one.
package conformance
