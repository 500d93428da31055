// Package golden compares what a test produced with a directory of files.
//
// A case is a directory; what is wanted stands in a directory of its own inside it. Run the tests with -update to
// rewrite it, and read the difference as you would read code. A file that is missing, and one that nothing produced any
// more, fails the test.
package golden
