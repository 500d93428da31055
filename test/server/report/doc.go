// Command report prints how each release line of the server took what the operator generates: a row a line, a
// column a tier, in each cell how many cases passed of how many. It reads the events that `go test -json` wrote.
//
// With -record it also notes, in the file that realserver.Releases reads, the data of every line that passed all
// tiers, so that later runs leave the line out until its data changes.
package main
