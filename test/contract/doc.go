// Package contract compares the objects that the previous operator creates for v1alpha1 stacks with the objects that
// this operator creates. The objects must not differ except as testdata/differences.yaml describes, and each difference
// must have a reason.
//
// testdata/cases contains manifests, each for one part of the API. testdata/today contains the objects that the
// previous operator creates for these manifests. The objects were read from a real API server, so they contain the
// server's defaults. When they were recorded, network policies were enabled, and the cluster was not OpenShift. In the
// recorded objects, descriptions replace the launcher script and hashes of resource versions.
//
// The tests check the output of the command line, and the objects that the operator binary creates from the manifests
// on a real API server. They also check that the API server accepts the same manifests as with the previous operator's
// definition, and that each stack can be read in both versions.
package contract
