// Package testutil holds what the tests of several packages share: a real API
// server with the operator's CustomResourceDefinition and policy on it. Nothing
// outside of tests imports it.
package testutil
