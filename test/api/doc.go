// Package api tests the CustomResourceDefinition and the admission policy on a
// real API server: the table of accepted and refused objects, and everything a
// user meets before the operator does: kubectl, scaling, columns, round trips.
package api
