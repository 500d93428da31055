// Package cli holds the verbs of kubectl-llamastack, one file each. They read
// manifests from files, run the pipeline the controller runs (package plan) and
// print what comes out; no cluster is asked for anything. The exceptions are
// migrate, which stores the stacks of a cluster in another version, and image, which
// reads and labels images.
package cli
