// Package dryrun runs the pipeline of the operator on the objects of manifests. It reports the plan of each stack, its
// errors and its warnings, with their positions. It needs no cluster, and skips what only a cluster has.
package dryrun
