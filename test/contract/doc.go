// Package contract compares the stacks that v1alpha1 runs today with what this operator makes of them. Its table of
// differences is the only place where the two may differ, each with its reason.
//
// testdata/cases has manifests, each designed for one part of the API. testdata/today has what the operator in use
// today makes of them. It was read back from a real API server, so it has the server's defaults, with network policies
// switched on, without OpenShift. Hashes over resource versions and the launcher script are replaced by a description.
//
// The tests check this twice: for the output of the command line, and for the objects that the operator's program
// creates from the manifests behind a real API server. There, each manifest is admitted as the previous operator's
// definition admitted it, and reads in both versions.
package contract
