// Package api tests the CustomResourceDefinition and the admission policy on a real API server. It has the table of
// accepted and rejected objects, and everything that a user meets before the operator does: kubectl, scaling, columns,
// round trips.
package api
