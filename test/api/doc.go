// Package api tests the CustomResourceDefinition and the admission policy on a real API server. It sends the table of
// accepted and rejected objects, internal/core/validate/testdata/cases, to the API server. It also tests how a stack
// behaves without an operator: kubectl commands, scaling, printed columns and round trips.
package api
