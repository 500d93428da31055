// Command report prints a table of the test results for the release lines of the server. The table has a row for each
// line and a column for each tier. Each cell shows the number of cases that passed and the total number of cases. The
// command reads the events that `go test -json` wrote.
//
// With -record, the command also records the digest of the data of every line that passed all tiers, in the file that
// realserver.Releases reads. If RELEASES is not set, later test runs start the server of such a line only after its
// data changes. Every test run starts the servers of some lines, and every line with data still reads configurations.
package main
