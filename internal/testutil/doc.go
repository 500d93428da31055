// Package testutil provides a real API server, with the operator's CustomResourceDefinition and policy, for the tests
// of several packages. Only tests import it.
package testutil
