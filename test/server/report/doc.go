// Command report prints how the release lines of the server took the operator's configurations: a row for each line, a
// column for each tier, and in each cell how many cases passed of how many. It reads the events that `go test -json`
// wrote.
//
// With -record it also records, in the file that realserver.Releases reads, the data of every line that passed all
// tiers. Later runs leave the line out until its data changes.
package main
