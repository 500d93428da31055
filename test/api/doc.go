// Package api tests the CustomResourceDefinition and the admission policy on a real API server. It contains the table
// of accepted and rejected objects. It also tests the behavior of a stack without an operator: kubectl, scaling,
// columns and round trips.
package api
