// Package dryrun runs the operator's pipeline on the objects in manifests. It returns the plan, the errors and the
// warnings of each stack, with their positions. It needs no cluster, and skips the checks that require information from
// a cluster.
package dryrun
