// Package casetable reads the table of accepted and rejected objects, internal/core/validate/testdata/cases. Each file
// contains the cases of one topic. Each entry contains an object and the results of the API server and of package
// validate. The tests in test/api check the results of the API server, and the tests of package validate check the
// results of that package.
package casetable
