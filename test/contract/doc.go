// Package contract holds what stacks of v1alpha1 have today against what this
// operator makes of them. Its table of differences is the only place where the
// two may part, each with its reason.
//
// testdata/cases has manifests, each designed for one part of the API, and
// testdata/today what the operator in use today makes of them: read back from a
// real API server, so with the server's defaults, with network policies switched
// on, without OpenShift. Hashes over resource versions and the launcher script are
// replaced by a description.
//
// The same is held twice: of what the command line renders, and of what the operator's program makes of the manifests
// behind a real API server, where each is admitted as the definition of the operator before admitted it, and reads in
// both versions.
package contract
