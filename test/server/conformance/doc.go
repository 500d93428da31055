// Package conformance uses the real server of every release line to check the configurations that package corpus
// creates. The classes of a release must read every configuration that the operator's checks accept (TestParse), and
// its start-up code must start the server with the configuration (TestInitialize). The server must not start with
// configurations that these checks reject because of the release data (TestNegative). The variable RELEASES lists the
// lines to test; "all" selects every line.
package conformance
