// Package golden compares the output of a test with a directory of files.
//
// A case is a directory that contains a directory with the expected files. Run the tests with -update to write the
// expected files again, and review the difference as you review code. A missing file fails the test, and so does a file
// that the test no longer produces.
package golden
