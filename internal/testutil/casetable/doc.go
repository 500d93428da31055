// Package casetable reads the table of accepted and rejected objects, internal/validate/testdata/cases. A file is a
// topic. An entry is an object with the results of the API server and of package validate. The tests of each of the two
// run their own side.
package casetable
