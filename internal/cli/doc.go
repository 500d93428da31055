// Package cli implements the commands of kubectl-llamastack, one file each. They read manifests from files, run the
// same pipeline as the controller (package plan) and print the result. They need no cluster, except migrate, which
// stores the stacks of a cluster in another version, and diff and upgrade-check, which read stacks from a cluster. The
// image commands read and label images.
package cli
