// Package casetable reads the table of accepted and refused objects,
// internal/validate/testdata/cases: one file a topic, one entry an object with
// what the API server and what package validate say of it. Both sides are run,
// each by the tests of its own package.
package casetable
