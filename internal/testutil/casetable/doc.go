// Package casetable reads the table of accepted and rejected objects, internal/validate/testdata/cases. A file is a
// topic. An entry is an object with the results of the API server and of package validate. The tests of the API server
// and of the package check their own results.
package casetable
