// Package conformance checks the configurations of package corpus with the real server of every release line. The
// release's classes have to read every configuration that our own checks accept (TestParse), and its start-up code has
// to start it (TestInitialise). Configurations that our checks reject by the data of the release have to fail there
// (TestNegative). RELEASES names the lines, `all` for every one.
package conformance
