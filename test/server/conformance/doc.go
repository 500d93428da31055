// Package conformance checks the configurations of package corpus with the real server of every release line. The
// release's classes must read every configuration that the checks of the operator accept (TestParse), and its start-up
// code must start it (TestInitialise). Configurations that these checks reject because of the release data must fail in
// the server (TestNegative). RELEASES names the lines, `all` for every one.
package conformance
