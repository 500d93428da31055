// Package golden compares the output of a test with a directory of files.
//
// A case is a directory that contains a directory with the expected files. If its files are short, the case, or a
// directory of short cases, is an archive in the format txtar instead: the file NAME.txtar has the content of the
// directory NAME. The functions of this package read and write it under the paths of the directory. Run the tests with
// -update to rewrite the expected files, and review the changes as you would review code. The test fails if an expected
// file is missing, or if the test no longer produces one of the expected files.
package golden
