// Package testutil provides what the tests of several packages share: a real API server with the operator's
// CustomResourceDefinition and policy. Only tests import it.
package testutil
