// Command coverage prints the statement coverage of each package in a cover profile, and fails if the total coverage is
// below a minimum.
//
// A profile that go test writes with -coverpkg lists a block once for every test binary that contains the block. A
// block counts as covered if any of the binaries ran it.
package main
