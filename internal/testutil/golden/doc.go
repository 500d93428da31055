// Package golden compares the output of a test with a directory of files.
//
// A case is a directory that contains a directory with the wanted files. Run the tests with -update to rewrite the
// wanted files, and review the difference like code. A missing file fails the test, and so does a file that is no
// longer produced.
package golden
