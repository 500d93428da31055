// Command coverage prints the statement coverage of each package in a cover profile and fails below a minimum.
//
// A profile written with -coverpkg lists a block once for every test binary that links it; a block counts as covered
// when any of them ran it.
package main
